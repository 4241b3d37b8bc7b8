"""A contest of a player, and the file of a player with changes in it."""

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


def play(player, rounds, size=3):
    """Play rounds with rewards that depend on the number of the round; return the actions."""
    actions = []
    for _ in range(rounds):
        random = np.random.default_rng(player.round)
        actions.append(np.asarray(player.act()).tolist())
        reward, genes = float(random.normal()), getattr(player, "genes", None)
        opponent = int(random.integers(size)) if genes is None else random.integers(2, size=genes)
        player.observe(reward=reward, opponent=opponent)
    return actions


def reshape(node, old, new):
    """Give all arrays of a shape another shape, at any depth of a state."""
    if isinstance(node, list) and node and node[0] == "array" and node[2] == old:
        node[2] = new
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        reshape(part, old, new)
