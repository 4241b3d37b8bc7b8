"""A repeated inspection game: an inspector who learns where to look, against a polluter who learns where to dump.

Every day the inspector visits one of four sites, and the polluter dumps at one of them. A catch earns a fine, which
differs by site; a miss costs the damage done there. Neither player knows these numbers, and the weather changes the
outcome of each day as well. The inspector is a `coebl.Player`: it chooses a site with `act` and learns the outcome with
`observe`. It is saved and loaded once, as in a restart. The polluter here is a player too; in a real contest it would
be someone else.

    python examples/inspection.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from coebl import Game, Player

SITES = ["harbour", "mill", "quarry", "wood"]
FINE = np.array([12.0, 10.0, 10.0, 8.0])  # what a catch earns at each site
DAMAGE = np.array([20.0, 6.0, 10.0, 4.0])  # what a miss costs
WEATHER = 5.0  # the standard deviation of the weather's effect, which both players know
DAYS = 1000
RANGE = (-30.0, 20.0)  # what the inspector knows in advance: outcomes without the weather are within these limits

OUTCOME = np.where(np.eye(len(SITES), dtype=bool), FINE, -DAMAGE)  # [visited, dumped]: what the inspector earns


def play(days: int = DAYS, seed: int = 0) -> tuple[np.ndarray, Player]:
    """Play some days; return the inspector's daily earnings, and the inspector."""
    weather = np.random.default_rng(seed)
    low, high = RANGE
    sites = len(SITES)
    inspector = Player("kin", sites, sites, horizon=days, seed=seed, payoff_range=RANGE, noise=WEATHER)
    polluter = Player("tsallis-inf", sites, sites, seed=seed + 1, payoff_range=(-high, -low), noise=WEATHER)
    earned = np.empty(days)
    for day in range(days):
        visited, dumped = inspector.act(), polluter.act()
        earned[day] = OUTCOME[visited, dumped] + WEATHER * weather.standard_normal()
        inspector.observe(reward=earned[day], opponent=dumped)
        polluter.observe(reward=-earned[day])
        if day == days // 2:
            inspector = restarted(inspector)
    return earned, inspector


def restarted(player: Player) -> Player:
    """Save the player to a file, load it again, and return it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "inspector.npz")
        player.save(path)
        return Player.load(path)


def main() -> None:
    """Play, and compare the earnings with the amount that full knowledge of the game could guarantee."""
    earned, inspector = play()
    game = Game(OUTCOME, name="inspection", row_labels=SITES, column_labels=SITES)
    print(f"earned a day, first 100 days  {earned[:100].mean():6.2f}")
    print(f"earned a day, last 500 days   {earned[-500:].mean():6.2f}")
    print(f"value of the game             {game.value:6.2f}\n")
    print("site      visits now  at equilibrium")
    for site, now, optimal in zip(SITES, inspector.policy, game.solution.row, strict=True):
        print(f"{site:<8}  {now:10.2f}  {optimal:14.2f}")


if __name__ == "__main__":
    main()
