"""Made-up results for tests of claims: curves from a function that returns the runs of a match."""

from typing import NamedTuple

import numpy as np
import polars as pl

from coebl.core.errors import InputError


class MadeRuns(NamedTuple):
    """One metric of one match: rounds (recorded,), seeds (runs,), values (recorded, runs)."""

    rounds: np.ndarray
    seeds: np.ndarray
    values: np.ndarray
    horizon: int = 300
    noise: str = "gaussian"


class MadeCurves:
    """The interface of results that judges and figures use.

    Subclasses have `matches()` and `runs(game, *players, metric)`, which raises a KeyError for what was not recorded.
    """

    metrics = ("pseudo_regret", "regret", "tv", "exploitability", "average_exploitability")

    def curves(self, metrics, *, game, players, points=None, noise=None):
        players = [seat if isinstance(seat, str) else seat[0] for seat in players]
        frames = []
        for metric in metrics:
            try:
                runs = self.runs(game, *players, metric)
            except KeyError:
                continue
            keys = {
                "game": game,
                "rounds": runs.horizon,
                "noise": runs.noise,
                "seed": np.repeat(runs.seeds, len(runs.rounds)),
                "round": np.tile(runs.rounds, len(runs.seeds)),
            }
            frame = pl.DataFrame({**keys, metric: np.asarray(runs.values, float).T.ravel()})
            frames.append(frame.with_columns(players=pl.lit(players)))
        if not frames:
            raise InputError("it is not there.")
        return pl.concat(frames, how="diagonal")

    def last(self, metrics, *, game, players):
        frame = self.curves(metrics, game=game, players=players)
        return frame.filter(pl.col("round") == pl.col("round").max()).drop("round")
