"""The result of a simulation, and the recorder that collects it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from coebl.backend import CPU, Backend, Device, backend_class
from coebl.core.arrays import Floats, Ints, machine_memory
from coebl.core.errors import InputError, nearest, shorten
from coebl.core.frames import pl
from coebl.core.modules import require
from coebl.core.text import counted
from coebl.engine.match import MOST_ROUNDS, Match
from coebl.engine.table import Table
from coebl.engine.until import Hit, HittingTime, Until
from coebl.games.equilibria import Distance
from coebl.games.game import TableGame
from coebl.metrics import Block, Metric, parse_metrics

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

Keep = Literal["actions", "rewards", "policies", "counts", "beliefs"]  # the first three for every round and seat


@dataclass(frozen=True, repr=False)
class Result:
    """The recorded metrics of a batch of runs, and their last policies.

    >>> from coebl import simulate
    >>> result = simulate("rps", "exp3", "uniform", rounds=20, seeds=3, metrics=["regret"])
    >>> result.metrics["regret"].shape, result.final("regret").shape, result.row_policy.shape
    ((20, 3), (3,), (3, 3))
    """

    match: Match  # the match that was played
    seeds: Ints  # (runs,)
    rounds: Ints  # (recorded,), increasing
    metrics: dict[str, Floats]  # name to (recorded, runs)
    policies: list[Floats]  # of the last round of each run, per seat: (runs, actions)
    kept: dict[Keep, Any]  # by name in keep=: counts (runs, m, n); else per seat, see `simulate`
    seconds: dict[str, float]  # time per phase
    classes: dict[str, type[Metric]]  # by name of the metric
    device: Device = "cpu"  # the device of the computation
    replayed: int = 0  # number of runs that were replayed, because a GPU had left a matrix unsolved

    @property
    def row_policy(self) -> Floats:
        """The row player's policies of the last round: (runs, m)."""
        return self.policies[0]

    @property
    def column_policy(self) -> Floats:
        """The column player's policies of the last round: (runs, n)."""
        return self.policies[1]

    @property
    def hitting_times(self) -> list[int | None]:
        """The round in which each run first met the condition `until`; None if it never did.

        >>> from coebl import simulate
        >>> simulate("rps", "ucb", "ucb", rounds=99, seeds=3, until="exploitability < 0.4").hitting_times
        [57, None, 85]
        """
        times = self.final(HittingTime.name)
        return [None if np.isnan(time) else int(time) for time in times]

    def __repr__(self) -> str:
        device = f" on {self.device}" * backend_class(self.device).is_gpu
        return f"<Result of {self.match}, {counted(len(self.seeds), 'run')}{device}: {', '.join(self.metrics)}>"

    def _repr_html_(self) -> str:
        from coebl.report.notebook import render_result

        return render_result(self)

    def final(self, metric: str) -> Floats:
        """Return a metric after the last round, one number per run."""
        metric = metric.removesuffix(":1")  # of the first seat
        if metric not in self.metrics:
            repair = "Pass until=" if metric in (HittingTime.name, Hit.name) else "Name it in metrics="
            raise InputError(f"metric {metric!r} was not recorded{nearest(metric, self.metrics)} {repair}.")
        return np.array(self.metrics[metric][-1])

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a tidy table by columns: seed, round, then the metrics; one row per run and recorded round."""
        recorded, runs = len(self.rounds), len(self.seeds)
        table: dict[str, NDArray[Any]] = {"seed": np.repeat(self.seeds, recorded), "round": np.tile(self.rounds, runs)}
        return table | {name: values.T.ravel() for name, values in self.metrics.items()}

    def curves(self) -> pl.DataFrame:
        """Return a Polars frame with a row per run and recorded round, in the columns of `Results.curves` of a study.

        >>> from coebl import simulate
        >>> result = simulate("rps", "ucb", "exp3", rounds=20, seeds=3, record=10, metrics=["regret"])
        >>> result.curves().columns
        ['game', 'players', 'noise', 'rounds', 'seed', 'round', 'regret']
        """
        game = self.match.game
        labels = {
            "game": game.spec or game.name,
            "players": [str(player) for player in self.match.players],
            "noise": str(game.noise),
            "rounds": self.match.rounds,
        }
        return pl.DataFrame([labels]).join(pl.DataFrame(self.columns()), how="cross")

    def last(self) -> pl.DataFrame:
        """Return a Polars frame with a row per run, after the last round: `curves` without the column `round`."""
        curves = self.curves()
        return curves.filter(curves["round"] == self.match.rounds).drop("round")

    def to_polars(self) -> pl.DataFrame:
        """Return the rows of `curves` as a Polars data frame with a column for the game and one per seat."""
        seats = self.match.game.seats
        players = [pl.col("players").list.get(place).alias(seat) for place, seat in enumerate(seats)]
        return self.curves().select("game", *players, "seed", "round", *self.metrics)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows of `to_polars` as a pandas data frame."""
        require("pandas")
        return self.to_polars().to_pandas()

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Plot the mean of a metric, by default the first, over the runs, by round, with its 95 % band, in ax."""
        from coebl.naming import known_of, learner_title
        from coebl.plots import plot_curves

        metric = metric or next(iter(self.metrics))
        self.final(metric)  # raises if it was not recorded
        known = known_of(self.match.players, [self.classes[metric]])
        frame = self.curves()
        game, players = frame.select("game", "players").row(0)
        label = " v ".join(learner_title(player, known=known) for player in players)
        return plot_curves(frame, metric, {label: (game, *players)}, ax, known=known)

    def distance_to_correlated(self, *, coarse: bool = False) -> Distance:
        """Return the distance of each run's joint play from the set of correlated equilibria, in total variation.

        Each distance is certified by a linear program and its dual. The result has to come from
        `simulate(..., keep=["counts"])`. With coarse=True, the set is that of coarse correlated equilibria, which
        contains the other.

        >>> from coebl import simulate
        >>> result = simulate("chicken", "exp3", "exp3", rounds=2000, seeds=3, keep=["counts"])
        >>> distances = result.distance_to_correlated()
        >>> distances.distance.round(3), bool(distances.gap.max() < 1e-7)
        (array([0.055, 0.047, 0.061]), True)
        """
        game = self.match.game
        if "counts" not in self.kept:
            raise InputError('the result has no counts of joint actions; accepted: simulate(..., keep=["counts"]).')
        if hasattr(game, "at"):
            raise InputError(f"{game.name} has payoffs that change; accepted: a game whose equilibria stay the same.")
        if not isinstance(game, TableGame):
            raise InputError(f"{game.name} has no table of payoffs; accepted: a Game or a TensorGame.")
        return game.distance_to_correlated(self.kept["counts"], coarse=coarse)

    def replay(self, seed: int | None = None) -> Any:  # a Replay; the import of its type would be a cycle
        """Return an interactive chart of both policies of a run, by default of the first seed, with a slider.

        Notebooks show it; `replay.save("replay.html")` writes it as a page that needs no network. The result has to
        come from `simulate(..., keep=["policies"])`, on a game with a matrix.
        """
        from coebl.engine.policy_paths import frames_for, policy_paths
        from coebl.report.replay import Replay

        return Replay(policy_paths(self, seed, frames_for(self.match.game)))


class Recorder:
    """The metrics of a batch of runs, computed block by block and collected at the recorded rounds."""

    def __init__(
        self, match: Match, metrics: Sequence[type[Metric]], rounds: Ints, keep: Collection[Keep], runs: int
    ) -> None:
        self._match, self._rounds = match, rounds
        self._metrics = parse_metrics(metrics, match.game, runs)
        self._classes = {metric.name: metric for metric in metrics}
        self._recorded: dict[str, list[Floats]] = {metric.name: [] for metric in metrics}
        self._kept: dict[Keep, list[Any]] = {name: [] for name in keep if name != "counts"}  # by block, then by seat
        self._counts: Any = 0 if "counts" in keep else None  # (runs, m, n)
        self._policies: list[Floats] = []  # at the end, per seat: (runs, width)

    @property
    def done(self) -> bool:
        """True if no further rounds are needed."""
        return False

    def block_end(self, first: int) -> int:
        """Return the latest round in which a block that begins here may end: beliefs are read at the end of a block."""
        later = self._rounds[self._rounds >= first]
        return int(later[0]) if "beliefs" in self._kept and len(later) else MOST_ROUNDS

    def take(self, block: Block, table: Table) -> None:
        """Add the next block, which a table has just played."""
        first, to_host = block.first_round, block.backend.to_host
        inside = self._rounds[(self._rounds >= first) & (self._rounds < first + block.rounds)] - first
        for metric in self._metrics:
            self._recorded[metric.name].append(to_host(metric.measure(block)[inside]))
        if self._counts is not None:
            self._counts = self._counts + _visits(block)
        self._policies = [policy[-1].copy() for policy in block.policies]
        for name, parts in self._kept.items():
            if name != "beliefs":
                parts.append([to_host(array.copy()) for array in getattr(block, name)])
            elif first + block.rounds - 1 in self._rounds:
                parts.append(_beliefs(table))

    def result(self, seeds: Sequence[int], seconds: dict[str, float], backend: Backend = CPU) -> Result:
        """Return the result, with the seconds per phase."""
        kept: dict[Keep, Any] = {
            name: [_stacked(seat) if name == "beliefs" else np.concatenate(seat) for seat in zip(*parts, strict=True)]
            for name, parts in self._kept.items()
        }
        if self._counts is not None:
            kept["counts"] = backend.to_host(self._counts)
        return Result(
            match=self._match,
            device=backend.device,
            seeds=np.array(seeds),
            rounds=self._rounds,
            metrics=self._columns(),
            policies=[backend.to_host(policy) for policy in self._policies],
            kept=kept,
            seconds=seconds,
            classes=self._classes,
        )

    def _columns(self) -> dict[str, Floats]:
        """Return the metrics by name: (recorded, runs)."""
        return {name: np.concatenate(parts) for name, parts in self._recorded.items()}


class Ends(Recorder):
    """The end of each run: the time, the metrics and the policies when a condition is first met.

    Without a condition, or if it is not met, a run ends after the last round. So it does not depend on its batch.
    """

    def __init__(self, match: Match, metrics: Sequence[type[Metric]], until: Until | None, runs: int) -> None:
        super().__init__(match, metrics, np.array([match.rounds]), (), runs)
        self._condition = None if until is None else until.condition(match.game, runs)  # by block: (rounds, runs)
        self._values = {metric.name: np.full(runs, np.nan) for metric in metrics}
        self._times = np.full(runs, np.nan)
        if until is not None:
            self._classes |= {HittingTime.name: HittingTime, Hit.name: Hit}

    @property
    def done(self) -> bool:
        return not np.isnan(self._times).any()

    def put(self, runs: Ints, metrics: dict[str, Floats], policies: Sequence[Floats], times: Floats | float) -> None:
        """Record the metrics and policies of some runs, and the times at which they met their condition, or NaN."""
        if not self._policies:
            self._policies = [np.zeros((len(self._times), policy.shape[-1])) for policy in policies]
        for name, values in metrics.items():
            self._values[name][runs] = values
        for kept, policy in zip(self._policies, policies, strict=True):
            kept[runs] = policy
        self._times[runs] = times

    def take(self, block: Block, table: Table) -> None:
        """Record each open run in the first round that meets its condition, or in the last round of the block."""
        assert self._condition is not None
        to_host = block.backend.to_host
        runs = np.flatnonzero(np.isnan(self._times))
        met = to_host(self._condition(block))[:, runs]
        hit = met.any(axis=0)
        last = np.where(hit, met.argmax(axis=0), block.rounds - 1)
        metrics = {metric.name: to_host(metric.measure(block))[last, runs] for metric in self._metrics}
        policies = [to_host(policy)[last, runs] for policy in block.policies]
        self.put(runs, metrics, policies, np.where(hit, block.first_round + last, np.nan))

    def _columns(self) -> dict[str, Floats]:
        columns = {name: values[None] for name, values in self._values.items()}
        if self._condition is not None:
            hits = (~np.isnan(self._times)).astype(np.float64)
            columns |= {HittingTime.name: self._times[None], Hit.name: hits[None]}
        return columns


def _beliefs(table: Table) -> list[dict[str, Floats] | None]:
    """Return the beliefs of the learners of a table, at least one of which has to have some."""
    held = [seated.beliefs() for seated in table.seats]
    if not any(held):
        names = list(dict.fromkeys(map(str, table.match.players)))
        none = f"neither {' nor '.join(names)} has any" if len(names) > 1 else f"{names[0]} has none"
        raise InputError(
            f"keep has beliefs, and {none}; accepted: a learner that estimates payoffs, such as coebl or ucb."
        )
    return held


def _stacked(beliefs: Sequence[dict[str, Floats] | None]) -> dict[str, Floats] | None:
    """Return the beliefs of a learner at the recorded rounds: (recorded, runs, m, k) by name; None if it has none."""
    present = [held for held in beliefs if held is not None]
    return {name: np.stack([held[name] for held in present]) for name in present[0]} if present else None


def _visits(block: Block) -> Ints:
    """Return the number of times that each joint action was played in a block: (runs, m, n)."""
    shape = (block.runs, *(space.width for space in block.game.spaces))
    pairs = np.ravel_multi_index((np.arange(block.runs, like=block.actions[0]), *block.actions), shape)
    return np.bincount(pairs.ravel(), minlength=prod(shape)).reshape(shape)


def check_keep(match: Match, runs: int, recorded: int, metrics: int, keep: Collection[Keep]) -> None:
    """Reject an invalid `keep`, and results that do not fit into the machine's memory."""
    if isinstance(keep, str) or not set(keep) <= set(get_args(Keep)):
        raise InputError(f"keep is {shorten(keep)}; accepted: a list out of {', '.join(get_args(Keep))}.")
    widths = [space.width for space in match.game.spaces]
    for name in ("counts", "beliefs"):
        if name in keep and any(space.shape for space in match.game.spaces):
            raise InputError(
                f"keep has {name}, and {match.game.name} has genomes, too many to count; leave {name} out."
            )
    numbers_of_actions = sum(prod(space.shape) for space in match.game.spaces)
    per_round = {"actions": numbers_of_actions, "rewards": len(widths), "policies": sum(widths)}
    numbers = recorded * metrics + match.rounds * sum(per_round.get(name, 0) for name in keep)
    numbers += prod(widths) * (("counts" in keep) + 4 * recorded * ("beliefs" in keep))
    needed = 2 * 8 * runs * numbers  # twice: the blocks, and the arrays into which they are joined
    memory = machine_memory()
    if needed > memory:
        raise InputError(
            f"this would keep {needed / 2**30:.1f} GiB, and the machine has {memory / 2**30:.1f}. "
            'Record fewer rounds (record="log"), keep less, or take fewer seeds at a time.'
        )
