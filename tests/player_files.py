"""The file of a player with changes in it."""

import json

import numpy as np


def altered(folder, player, change=None, arrays=None, **settings):
    """Save a player, and return a copy of its file with other settings or arrays; `change` edits the settings."""
    player.save(folder / "player.npz")
    with np.load(folder / "player.npz") as stored:
        content = dict(stored)
    described = json.loads(content["settings"].tobytes()) | settings
    if change is not None:
        change(described)
    text = np.frombuffer(json.dumps(described).encode(), np.uint8)
    np.savez(folder / "altered.npz", **{**content, "settings": text, **(arrays or {})})
    return folder / "altered.npz"
