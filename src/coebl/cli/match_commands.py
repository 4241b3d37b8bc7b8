"""The commands solve, match and runtime: the equilibrium of a game, a match, and the time to an equilibrium."""

from __future__ import annotations

import itertools
import json
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from coebl.cli import options as opt
from coebl.cli.terminal import print_table, progress_bar, say
from coebl.core.errors import InputError, check_integer, printable
from coebl.core.modules import require
from coebl.core.text import counted, finite, in_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coebl.engine import Keep, Match, Result
    from coebl.evidence.runtimes import Runtimes
    from coebl.evidence.statistics import Estimate
    from coebl.games import Game, GenomeGame, TensorGame, ZeroSumGame


_MOST_ACTIONS = 24  # of a strategy that are printed
_FEWEST_SEEDS = 5  # for naming a winner: with fewer, an interval depends on the shape of their distribution
_LONG = 100.0  # seconds; a match that may take longer is announced where no bar is shown
_DECISIVE = "pseudo_regret"  # the metric that decides who wins
_SAVE_SUFFIXES = (".parquet", ".csv")
_MOST_SAVED_LINES = 20_000_000  # about a gigabyte while it is written


@opt.app.command("solve")
def solve_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A spec; a .csv, .npy, .json or .nfg file; or file.py:function.")
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Print the value of a game and both optimal strategies, or the equilibria of one that is not zero-sum.

    \b
    Examples:
      coebl solve kuhn-poker
      coebl solve diagonal:4 --json
      coebl solve chicken
      coebl solve my-game.csv
    """
    from coebl.games import Game, GenomeGame, TensorGame, parse_game
    from coebl.kernels.cache import announce_compilation

    loaded = parse_game(game)
    with announce_compilation():
        if isinstance(loaded, GenomeGame):
            _print_value(loaded, as_json)
            return
        if isinstance(loaded, TensorGame):
            _print_equilibria(loaded, as_json)
            return
        assert isinstance(loaded, Game)
        solution = loaded.solution
    if as_json:
        print(json.dumps(_solution_summary(loaded)))
        return
    m, n = loaded.shape
    print(f"{printable(loaded.spec or loaded.name)}: {m} x {n}")
    print(f"value to the row player  {tidy_value(loaded)}")
    print(f"certified to             {max(solution.gap, 0.0):.1e} of the payoff range")
    print(f"only equilibrium         {printable(str(loaded.unique_equilibrium))}")
    for player, labels, strategy in (
        ("row", loaded.row_labels, solution.row),
        ("column", loaded.column_labels, solution.column),
    ):
        print(f"\n{player} player's strategy")
        _print_strategy(labels, strategy.tolist())


def _print_value(game: GenomeGame, as_json: bool) -> None:
    """Print the value of a game of genomes; its equilibria have 2^n entries, and are not printed."""
    name = game.spec or game.name
    if as_json:
        print(json.dumps({"name": name, "value": game.value, "genes": game.n}))
        return
    print(f"{printable(name)}: two genomes of {game.n} genes")
    print(f"value to the row player  {tidy_value(game)}")


def _print_equilibria(game: TensorGame, as_json: bool) -> None:
    """Print the Nash equilibria of two players, and the correlated equilibrium that pays most in all."""
    best = game.correlated()
    found = game.equilibria() if len(game.shape) == 2 else []
    if as_json:
        nash = [{"strategies": [x.tolist() for x in p.strategies], "payoffs": p.payoffs} for p in found]
        correlated = {"joint": best.joint.tolist(), "payoffs": best.payoffs}
        print(json.dumps({"name": game.spec or game.name, "equilibria": nash, "correlated": correlated}))
        return
    print(f"{printable(game.spec or game.name)}: {' x '.join(map(str, game.shape))}")
    for number, profile in enumerate(found, 1):
        print(f"\nequilibrium {number}, certified to {profile.regret:.1e} of the payoff range")
        for seat, labels, strategy, payoff in zip(
            game.seats, game.labels, profile.strategies, profile.payoffs, strict=True
        ):
            print(f"{printable(seat)} earns {payoff:.6g}")
            _print_strategy(labels, strategy.tolist())
    earned = ", ".join(f"{payoff:.6g}" for payoff in best.payoffs)
    print(f"\nthe correlated equilibrium that pays most in all, certified to {max(best.regret, best.gap):.1e}")
    print(f"the players earn {earned}")
    names = [
        " ".join(own[a] for own, a in zip(game.labels, at, strict=True))
        for at in itertools.product(*map(range, game.shape))
    ]
    _print_strategy(names, [chance if chance > 1e-9 else 0.0 for chance in best.joint.ravel().tolist()])


def _solution_summary(game: Game) -> dict[str, Any]:
    solution, unique = game.solution, game.unique_equilibrium
    return {
        "name": game.spec or game.name,
        "value": solution.value,
        "row": solution.row.tolist(),
        "column": solution.column.tolist(),
        "row_labels": game.row_labels,
        "column_labels": game.column_labels,
        "unique": {"answer": unique.answer, "reason": unique.reason},
        "gap": max(solution.gap, 0.0),  # below zero only by rounding
        "status": solution.status,
        "pivots": solution.pivots,
    }


def tidy_value(game: ZeroSumGame) -> str:
    """The value to ten digits; zero if it differs from zero only by rounding."""
    low, high = game.payoff_range
    return f"{game.value if abs(game.value) > 1e-12 * (high - low) else 0.0:.10g}"


def _print_strategy(labels: Sequence[str], strategy: Sequence[float]) -> None:
    """Print the actions that are played, and count the others."""
    played = [(label, chance) for label, chance in zip(labels, strategy, strict=True) if chance > 0]
    shown = played[:_MOST_ACTIONS]
    print_table(
        ["", "", ""], [(f"  {label}", f"{chance:.6f}", "#" * round(40 * chance)) for label, chance in shown], wrap=[""]
    )
    if len(played) > len(shown):
        print(f"  and {len(played) - len(shown)} more actions: see --json")
    if len(played) < len(labels):
        print(f"  {len(labels) - len(played)} of {len(labels)} actions are not played")


@opt.app.command("match")
def match_command(
    game: opt.GameSpec,
    row: Annotated[str | None, opt.option("SPEC", "The row player's learner.")] = None,
    column: Annotated[str | None, opt.option("SPEC", "The column player's learner.")] = None,
    players: Annotated[
        str | None, opt.option("SPECS", "The learners of all seats in one list, in place of --row and --column.")
    ] = None,
    rounds: Annotated[int, opt.integer("Rounds per run.")] = 3000,
    seeds: Annotated[int, opt.integer("Number of runs.")] = 50,
    first_seed: opt.FirstSeed = 0,
    noise: opt.NoiseSpec = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="This metric, or all; may be given more than once. By default three."
        ),
    ] = None,
    save: Annotated[Path | None, opt.option("FILE", "Write all actions and rewards: .parquet or .csv.")] = None,
    device: opt.DeviceOption = None,
    as_json: opt.AsJson = False,
) -> None:
    """Play learners against each other and print the outcome.

    \b
    Examples:
      coebl match --game diagonal:3 --row ucb --column coebl:c=2
      coebl match --game my-game.csv --row exp3 --column best-response --rounds 500 --seeds 20 --noise laplace
      coebl match --game rps --row ucb --column exp3 --metric regret --metric exploitability
      coebl match --game rps --row ucb --column exp3 --metric all
      coebl match --game chicken --players exp3,ucb
      coebl match --game public-goods:players=4 --players exp3,exp3,hedge,coebl:c=2
      coebl match --game rps --row ucb --column exp3 --seeds 5 --save rounds.parquet
      coebl match --game random-gaussian:m=128,n=128 --row coebl --column ucb --seeds 1000 --device cuda
    """
    from coebl.backend import backend_for, check_device
    from coebl.engine import Match, simulate
    from coebl.engine.simulate import MOST_SEEDS
    from coebl.kernels.cache import announce_compilation
    from coebl.metrics import parse_metrics

    match = Match.among(game, _learners(row, column, players), rounds, noise)
    if match.row.kind() == "search":
        name = match.row
        raise InputError(
            f"--row is {name}, which is a search; accepted: a learner. To measure it: coebl runtime {name}."
        )
    check_integer("--seeds", seeds, 1, MOST_SEEDS)
    check_integer("--first-seed", first_seed, 0, 2**63 - seeds)  # results keep seeds as 64-bit numbers
    where = check_device("cpu" if device is None else device)
    backend_for(where)  # before the solver is compiled
    if save:
        _check_savable(save, rounds * seeds)
    allowed = [metric.name for metric in parse_metrics(["all"], match.game, 1)]
    decisive = [_DECISIVE] if _DECISIVE in allowed else []  # a game without a value has none
    keep: list[Keep] = ["actions", "rewards"] if save else [] if decisive else ["rewards"]
    with progress_bar(printable(str(match)), match.rounds, _long_line(match, seeds)) as advance, announce_compilation():
        result = simulate(
            match,
            range(first_seed, first_seed + seeds),
            record="last",
            metrics=[*(metric or (["all"] if as_json else _default_metrics(allowed))), *decisive],
            keep=keep,
            progress=advance,
            device=where,
        )
    if save:
        _save_rounds(result, save)
    estimates = _estimates(result)
    sentence = (
        _outcome_sentence(match, cast("Estimate", estimates[_DECISIVE])) if decisive else _earned_sentence(result)
    )
    if decisive and metric and _DECISIVE not in metric and "all" not in metric:
        del estimates[_DECISIVE]
    if as_json:
        print(json.dumps(_match_summary(result, estimates), allow_nan=False))
    else:
        say(sentence)
        print()
        _print_match(result, estimates)


def _learners(row: str | None, column: str | None, players: str | None) -> list[str]:
    """Return the learners of the seats, from either way to name them."""
    opt.reject_both("--players", "--row or --column", both=players is not None and (row or column) is not None)
    if players is None:
        for name, given in (("--row", row), ("--column", column)):
            if given is None:
                raise InputError(f"{name} is missing; accepted: --row and --column, or --players SPEC,SPEC,...")
        return [str(row), str(column)]
    specs: list[str] = []
    for part in players.split(","):
        inside = "=" in part.partition(":")[0]  # a further parameter of the spec before it
        if inside and specs:
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return specs


def _default_metrics(allowed: list[str]) -> list[str]:
    """Return the metrics that are printed if none is selected: those of `simulate` that the game allows, or all."""
    from coebl.engine.simulate import DEFAULT_METRICS

    return [name for name in DEFAULT_METRICS if name in allowed] or allowed


def _check_savable(path: Path, lines: int) -> None:
    """Reject, before anything is played, a file that could not be written afterwards."""
    if path.suffix.lower() not in _SAVE_SUFFIXES:
        raise InputError(f"--save is {path}; accepted: a file that ends in {' or '.join(_SAVE_SUFFIXES)}.")
    if not path.parent.is_dir():
        raise InputError(f"--save is {path}, and the folder {path.parent} does not exist. Create it.")
    if lines > _MOST_SAVED_LINES:
        raise InputError(
            f"--save would write {lines:,} lines; accepted: at most {_MOST_SAVED_LINES:,}. Use fewer --rounds or "
            "--seeds."
        )
    require("polars")


def _save_rounds(result: Result, path: Path) -> None:
    """Write a line per run and round: seed, round, and the actions and rewards of both players.

    Actions are numbered from 0; genomes are strings of bits.
    """
    import numpy as np

    from coebl.core.files import write_whole

    rounds, runs = result.kept["rewards"][0].shape
    columns: dict[str, Any] = {
        "seed": np.repeat(result.seeds, rounds),
        "round": np.tile(np.arange(1, rounds + 1), runs),
    }
    for name in ("action", "reward"):
        for seat, array in zip(result.match.game.seats, result.kept[f"{name}s"], strict=True):
            column = array.swapaxes(0, 1).reshape((rounds * runs, *array.shape[2:]))
            columns[f"{seat}_{name}"] = column if column.ndim == 1 else ["".join(map(str, bits)) for bits in column]
    frame, buffer = require("polars").DataFrame(columns), BytesIO()
    if path.suffix.lower() == ".csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def _long_line(match: Match, seeds: int) -> str:
    """The announcement of a match that may take long, by the declared costs of its learners; otherwise empty."""
    from coebl.study.estimate import declared_range
    from coebl.study.progress import span

    low, high = declared_range(match, seeds)
    return f"playing: {span(low, high)}, by the declared costs of the learners" if high >= _LONG else ""


def _estimates(result: Result) -> dict[str, Estimate | None]:
    """The mean of every metric after the last round, with its interval; None if it is infinite in a run."""
    import numpy as np

    from coebl.evidence.statistics import mean_interval

    finals = {name: result.final(name) for name in result.metrics}
    return {name: mean_interval(values) if np.isfinite(values).all() else None for name, values in finals.items()}


def _match_summary(result: Result, estimates: dict[str, Estimate | None]) -> dict[str, Any]:
    match = result.match
    return {
        "game": match.game.spec or match.game.name,
        **({"row": str(match.row), "column": str(match.column)} if len(match.players) == 2 else {}),
        "players": [str(player) for player in match.players],
        "rounds": match.rounds,
        "seeds": len(result.seeds),
        "device": result.device,
        "noise": str(match.game.noise),
        "first_seed": int(result.seeds[0]),
        "value": None if _lacks_value(match) else cast("Game", match.game).value,
        **({"rewards": _rewards_summary(result)} if "rewards" in result.kept else {}),
        "metrics": {
            name: {key: finite(getattr(estimate, key, None)) for key in ("mean", "low", "high", "sd")}
            for name, estimate in estimates.items()
        },
    }


def _print_match(result: Result, estimates: dict[str, Estimate | None]) -> None:
    from coebl.games import TensorGame

    match = result.match
    where = f", on {result.device}" * (result.device != "cpu")
    print(f"{printable(str(match))}, {counted(len(result.seeds), 'seed')}, noise {match.game.noise}{where}")
    if isinstance(match.game, TensorGame):
        print("rewards a round, means over the runs with 95 % intervals (Student)\n")
        _print_rewards(result)
        return
    print(f"value of the game {'not known' if _lacks_value(match) else tidy_value(cast('Game', match.game))}\n")
    least, largest = match.game.ranges[0]
    rows = []
    for name, estimate in estimates.items():
        if estimate is None:
            rows.append((name, "infinite", "an action outside the equilibrium is played"))
            continue
        low, high = result.classes[name].within_bounds(estimate.low, estimate.high, largest - least)
        mean, *ends = in_interval(estimate.mean, low, high)
        rows.append((name, mean, "none: one seed" if estimate.n == 1 else " .. ".join(ends)))
    print_table(["after the last round", "mean", "95 % interval (Student)"], rows, right=["mean"])


def _mean_rewards(result: Result) -> list[Estimate]:
    """The mean reward of a round of each seat."""
    from coebl.evidence.statistics import mean_interval

    return [mean_interval(rewards.mean(axis=0)) for rewards in result.kept["rewards"]]


def _rewards_summary(result: Result) -> dict[str, dict[str, float | None]]:
    """The mean reward of a round of each seat, for --json."""
    earned = zip(result.match.game.seats, _mean_rewards(result), strict=True)
    return {seat: {key: finite(getattr(mean, key)) for key in ("mean", "low", "high", "sd")} for seat, mean in earned}


def _print_rewards(result: Result) -> None:
    """Print what each seat of a game that is not zero-sum earns, and what its security strategy would earn at least."""
    game: Any = result.match.game
    rows = []
    for seat, player, earned in zip(game.seats, result.match.players, _mean_rewards(result), strict=True):
        mean, *ends = in_interval(earned.mean, earned.low, earned.high)
        interval = "none: one seed" if earned.n == 1 else " .. ".join(ends)
        rows.append((printable(seat), str(player), mean, interval, f"{game.security(seat).value:.4g}"))
    print_table(["seat", "learner", "mean", "95 % interval", "security"], rows, right=["mean", "security"])


def _lacks_value(match: Match) -> bool:
    return "value" in getattr(match.game, "unknown", ())


def _earned_sentence(result: Result) -> str:
    """A sentence about the rewards, for a game without a value, which would separate the players."""
    from coebl.evidence.statistics import mean_interval
    from coebl.games import TensorGame

    together = len(result.match.players) != 2 or isinstance(result.match.game, TensorGame)
    rewards = sum(result.kept["rewards"]) if together else result.kept["rewards"][0]
    earned = mean_interval(rewards.mean(axis=0))
    interval = "in a single run" if earned.n == 1 else f"95 % interval {earned.low:.2g} .. {earned.high:.2g}"
    if together:
        return f"Together the players earn {earned.mean:.3g} a round, {interval}."
    return f"The row player earns {earned.mean:.2g} a round, {interval}; the value of the game is not known."


def _outcome_sentence(match: Match, regret: Estimate) -> str:
    """A sentence about the winner, judged by the regret of the row player."""
    low, high = match.game.ranges[0]
    if abs(regret.mean / match.rounds) <= 1e-9 * (high - low):  # rounding
        return "Neither player wins more than the value of the game gives it."
    if regret.n == 1:
        return "A single run cannot separate skill from noise; use more --seeds."
    seat, learner, sign = ("column", match.column, 1) if regret.mean > 0 else ("row", match.row, -1)
    mean, *ends = (sign * total / match.rounds for total in (regret.mean, regret.low, regret.high))
    interval = f"{min(ends):.2g} .. {max(ends):.2g}"
    if min(ends) <= 0:
        return f"Undecided: the {seat} player wins {mean:.2g} a round more, 95 % interval {interval}."
    if regret.n < _FEWEST_SEEDS:
        return (
            f"{regret.n} seeds are too few to decide who wins; use {_FEWEST_SEEDS} or more --seeds. In these runs the "
            f"{seat} player, {learner}, wins {mean:.2g} a round more, 95 % interval {interval}."
        )
    return (
        f"The {seat} player, {learner}, wins {mean:.2g} a round more than the value of the game gives it, "
        f"95 % interval {interval}."
    )


_QUANTILES = {"a quarter": 0.25, "half": 0.5, "three quarters": 0.75}


@opt.app.command("runtime")
def runtime_command(
    algorithm: Annotated[str, typer.Argument(metavar="SPEC", help="A search, or a learner that plays itself.")],
    game: opt.GameSpec,
    budget: Annotated[float, opt.decimal("N", "Rounds of a run at most; 1e7 is accepted.", least=1)] = 1e6,
    until: Annotated[
        str | None,
        opt.option("CONDITION", 'By default "optimum" for a search, else "exploitability < 0.1".'),
    ] = None,
    seeds: Annotated[int, opt.integer("Number of runs.")] = 20,
    first_seed: opt.FirstSeed = 0,
    noise: opt.NoiseSpec = None,
    plot: Annotated[Path | None, opt.option("FILE", "Draw the share of runs by budget: .png, .svg or .pdf.")] = None,
    ioh: Annotated[Path | None, opt.option("DIR", "Write files that IOHanalyzer reads.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Measure how many rounds, or queries, an algorithm takes to an equilibrium.

    \b
    Examples:
      coebl runtime pdcoea:population=500,chi=0.3 --game diagonal:n=100,space=bits --noise none --budget 1e7
      coebl runtime cga --game diagonal:n=100,space=bits --until "exploitability < 0.1"
      coebl runtime kin --game diagonal:n=5 --budget 3000 --until "exploitability < 0.1"
    """
    from coebl.engine import Match, simulate
    from coebl.engine.simulate import MOST_SEEDS
    from coebl.engine.until import HittingTime, Until
    from coebl.evidence.runtimes import Runtimes
    from coebl.kernels.cache import announce_compilation
    from coebl.search import Search

    if not isfinite(budget) or budget != int(budget):
        raise InputError(f"--budget is {budget:g}; accepted: an integer, such as 100000 or 1e7.")
    match = Match.of(game, algorithm, algorithm, int(budget), noise)
    check_integer("--seeds", seeds, 1, MOST_SEEDS)
    check_integer("--first-seed", first_seed, 0, 2**63 - seeds)
    condition = Until.parse(until or ("optimum" if isinstance(match.row, Search) else "exploitability < 0.1"))
    suffix = opt.figure_format("--plot", plot) if plot else ""  # before anything is run
    with progress_bar(printable(str(match)), match.rounds) as advance, announce_compilation():
        result = simulate(match, range(first_seed, first_seed + seeds), metrics=[], until=condition, progress=advance)
    runs = Runtimes.of(result.final(HittingTime.name), match.rounds)
    if plot:
        from coebl.plots import plot_ecdf, save

        save(plot_ecdf({str(match.row): runs}).figure, plot.parent, plot.stem, [suffix])
    if ioh:
        from coebl.evidence.runtimes import Problem, write_ioh

        name = match.game.spec or match.game.name
        write_ioh(ioh, str(match.row), {Problem(1, name, match.game.spaces[0].width): runs})
    if as_json:
        print(json.dumps(_runtime_summary(match, condition, runs), allow_nan=False))
    else:
        _print_runtimes(match, str(condition), runs)


def _runtime_summary(match: Match, until: object, runs: Runtimes) -> dict[str, Any]:
    estimates = {"share": runs.share(), "ert": runs.ert()}
    return {
        "game": match.game.spec or match.game.name,
        "algorithm": str(match.row),
        "noise": str(match.game.noise),
        "until": str(until),
        "budget": match.rounds,
        "times": runs.times,
        **{
            name: {key: finite(getattr(estimate, key)) for key in ("mean", "low", "high")}
            for name, estimate in estimates.items()
        },
    }


def _print_runtimes(match: Match, until: str, runs: Runtimes) -> None:
    from coebl.evidence.runtimes import time_text

    game = printable(match.game.spec or match.game.name)
    print(f"{printable(str(match.row))} on {game}, noise {match.game.noise}, until {until}")
    print(f"{counted(runs.hits, 'run')} of {len(runs.times)} hit within {runs.budget:,} rounds\n")
    share, ert = runs.share(), runs.ert()
    rows = [
        ("share of runs", f"{share.mean:.3f}", f"{share.low:.3f} .. {share.high:.3f} (Wilson)"),
        ("expected running time", time_text(ert.mean), f"{time_text(ert.low)} .. {time_text(ert.high)} (bootstrap)"),
    ]
    for words, quantile in _QUANTILES.items():
        time = runs.quantile(quantile)
        rows.append((f"{words} of the runs hit by", f"{time:,}" if time is not None else "not yet", ""))
    print_table(["", "estimate", "95 % interval"], rows, right=["estimate"])
