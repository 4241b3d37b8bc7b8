"""The commands match, runtime and play: learners against each other, until an equilibrium, and against a person."""

from __future__ import annotations

import sys
from collections import Counter
from io import BytesIO
from math import isfinite, isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from coebl.cli import options as opt
from coebl.cli.terminal import interval_cells, note, print_json, print_table, progress_bar, say, tidy_value
from coebl.core.errors import InputError, check_integer, printable
from coebl.core.files import write_whole
from coebl.core.frames import pl
from coebl.core.modules import require
from coebl.core.specs import split_specs
from coebl.core.text import counted, duration, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coebl import backend, engine, games, metrics, plots, search
    from coebl.core.arrays import Floats
    from coebl.engine import until as conditions
    from coebl.evidence import runtimes, statistics
    from coebl.study import progress
else:
    backend, engine, games, metrics, plots, search = opt.lazy(
        "backend", "engine", "games", "metrics", "plots", "search"
    )
    conditions, runtimes, statistics, progress = opt.lazy(
        "engine.until", "evidence.runtimes", "evidence.statistics", "study.progress"
    )

_FEWEST_SEEDS = 5  # for naming a winner; with fewer, the interval depends on the shape of the distribution
_LONG = 100.0  # seconds; a match that may take longer is announced where no bar is shown
_SLOW = 10.0  # seconds; a match that takes at least this long is always announced, with ways to make it faster
_DECISIVE = "pseudo_regret"  # the metric that decides who wins
_TABLES = ("parquet", "csv")  # the formats of --save
_MOST_SAVED_LINES = 20_000_000  # these take about a gigabyte of memory to write
_QUANTILES = {"a quarter": 0.25, "half": 0.5, "three quarters": 0.75}


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
        opt.option("NAME", "This metric, or all; may be given more than once; swap_regret:2 for seat 2."),
    ] = None,
    save: Annotated[
        Path | None, opt.option("FILE", "Write all actions and rewards: .parquet or .csv, in a folder that exists.")
    ] = None,
    device: opt.DeviceOption = "cpu",
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
    from coebl.engine.simulate import default_metrics  # the package has a function with the name of this module

    _check_rounds("--rounds", rounds)
    loaded = games.parse_game(game, noise)
    chosen = _learners(row, column, players)
    if len(chosen) != len(loaded.seats):
        raise InputError(
            f"{loaded.name} has {len(loaded.seats)} seats ({', '.join(loaded.seats)}), and {len(chosen)} "
            f"{'learner is' if len(chosen) == 1 else 'learners are'} given; accepted: one for each seat. Use "
            f"--players {','.join(['SPEC'] * len(loaded.seats))}."
        )
    match = engine.Match.of(loaded, *chosen, rounds=rounds)
    if match.row.kind() == "search":
        search_only = f"--row is {match.row}, which is a search; accepted: a learner."
        raise InputError(f"{search_only} To measure it: coebl runtime {match.row}.")
    numbers = _seeds(first_seed, seeds)
    backend.backend_for(device)  # before the solver is compiled
    if save:
        _check_savable(save, rounds * seeds)
    has_winner = metrics.metric_class(_DECISIVE).reason_undefined(match.game) is None
    decisive = [_DECISIVE] * has_winner  # a game without a value has no pseudo-regret
    keep: list[engine.Keep] = ["actions", "rewards"] if save else [] if decisive else ["rewards"]
    low, high = progress.declared_range(match, seeds)
    line = f"playing: {duration(low)} to {duration(high)}, by the declared costs of the learners" * (high >= _LONG)
    if low >= _SLOW:
        faster = "to make it faster: fewer --seeds or --rounds, or learners such as exp3"
        note(line)
        note(faster)
        line = ""
    with progress_bar(printable(str(match)), match.rounds, line) as advance:
        result = engine.simulate(
            match,
            numbers,
            record="last",
            metrics=[*(metric or (["all"] if as_json else default_metrics(match.game))), *decisive],
            keep=keep,
            progress=advance,
            device=device,
        )
    if save:
        _save_rounds(result, save)
    estimates = {  # None for a metric that is infinite in a run
        name: statistics.mean_interval(values) if all(map(isfinite, values := result.final(name))) else None
        for name in result.metrics
    }
    earned = {  # per round, by seat
        seat: statistics.mean_interval(rewards.mean(axis=0))
        for seat, rewards in zip(match.game.seats, result.kept.get("rewards", ()), strict=False)
    }
    regret = estimates[_DECISIVE] if decisive else None
    if decisive and metric and _DECISIVE not in metric and "all" not in metric:
        del estimates[_DECISIVE]
    if as_json:
        print_json(_match_summary(result, estimates, earned))
    else:
        say(_outcome_sentence(match, regret) if regret else _earned_sentence(result))
        print()
        _print_match(result, estimates, earned)


def _check_rounds(option: str, rounds: int) -> None:
    from coebl.engine.match import MOST_ROUNDS

    check_integer(option, rounds, 1, MOST_ROUNDS)


def _seeds(first: int, count: int) -> range:
    """Return the seeds of --first-seed and --seeds."""
    from coebl.engine.simulate import MOST_SEEDS

    check_integer("--seeds", count, 1, MOST_SEEDS)
    check_integer("--first-seed", first, 0, 2**63 - count)  # results keep seeds as 64-bit numbers
    return range(first, first + count)


def _learners(row: str | None, column: str | None, players: str | None) -> list[str]:
    """Return the learners of the seats, from --row and --column or from --players."""
    opt.at_most_one({"--players": players, "--row or --column": row or column})
    if players is not None:
        return split_specs(players)
    if row is None or column is None:
        missing = "--row" if row is None else "--column"
        raise InputError(f"{missing} is missing; accepted: --row and --column, or --players SPEC,SPEC,...")
    return [row, column]


def _check_savable(path: Path, lines: int) -> None:
    """Before anything is played, reject a file that could not be written afterwards."""
    opt.check_file("--save", path, _TABLES)
    if lines > _MOST_SAVED_LINES:
        raise InputError(
            f"--save would write {lines:,} lines; accepted: at most {_MOST_SAVED_LINES:,}. Use fewer --rounds or "
            "--seeds."
        )
    require("polars")


def _save_rounds(result: engine.Result, path: Path) -> None:
    """Write a line per run and round: seed, round, and the actions and rewards of all players.

    Actions are numbered from 0; genomes are strings of bits.
    """
    import numpy as np

    rounds, runs = result.kept["rewards"][0].shape
    columns: dict[str, Any] = {
        "seed": np.repeat(result.seeds, rounds),
        "round": np.tile(np.arange(1, rounds + 1), runs),
    }
    for name, kept in (("action", result.kept["actions"]), ("reward", result.kept["rewards"])):
        for seat, array in zip(result.match.game.seats, kept, strict=True):
            column = array.swapaxes(0, 1).reshape((rounds * runs, *array.shape[2:]))
            columns[f"{seat}_{name}"] = column if column.ndim == 1 else ["".join(map(str, bits)) for bits in column]
    frame, buffer = pl.DataFrame(columns), BytesIO()
    if path.suffix.lower() == ".csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def _plain(estimate: statistics.Estimate | None, *keys: str) -> dict[str, float | None]:
    """Return the numbers of an estimate for JSON; None for those that are missing."""
    return {key: getattr(estimate, key, None) for key in keys or ("mean", "low", "high", "sd")}


def _match_summary(
    result: engine.Result,
    estimates: dict[str, statistics.Estimate | None],
    earned: dict[str, statistics.Estimate],
) -> dict[str, Any]:
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
        "value": None if "value" in getattr(match.game, "unknown", ()) else cast("games.Game", match.game).value,
        **({"rewards": {seat: _plain(mean) for seat, mean in earned.items()}} if earned else {}),
        "metrics": {name: _plain(estimate) for name, estimate in estimates.items()},
    }


def _print_match(
    result: engine.Result,
    estimates: dict[str, statistics.Estimate | None],
    earned: dict[str, statistics.Estimate],
) -> None:
    match, game = result.match, result.match.game
    where = f", on {result.device}" * backend.backend_class(result.device).is_gpu
    print(f"{printable(str(match))}, {counted(len(result.seeds), 'seed')}, noise {game.noise}{where}")
    if not games.is_zero_sum(game):
        general = cast("games.TensorGame", game)
        print("rewards a round, means over the runs with 95 % intervals (Student)\n")
        rows = [
            {"seat": printable(seat), "learner": str(player)}
            | interval_cells(reward.mean, reward.low, reward.high, reward.n)
            | {"security": f"{general.security(seat).value:.4g}"}  # guaranteed by its security strategy
            for (seat, reward), player in zip(earned.items(), match.players, strict=True)
        ]
        print_table(rows, right=["mean", "security"])
        print()
    else:
        print(f"value of the game {tidy_value(cast('games.ZeroSumGame', game))}\n")
    least, largest = game.ranges[0]
    titles = "mean", "95 % interval (Student)"
    rows = []
    for name, estimate in estimates.items():
        runs = counted(int(sum(map(isinf, result.final(name)))), "run")
        outside = issubclass(result.classes[name], metrics.metric_class("kl"))
        reason = "an action outside the equilibrium is played" if outside else f"in {runs}"
        cells = dict(zip(titles, ("infinite", reason), strict=True))
        if estimate is not None:
            bounds = result.classes[name].within_bounds(estimate.low, estimate.high, largest - least)
            cells = interval_cells(estimate.mean, *bounds, estimate.n, titles)
        rows.append({"after the last round": name, **cells})
    print_table(rows, right=["mean"])


def _earned_sentence(result: engine.Result) -> str:
    """Return a sentence about the rewards, for a game without a known value to judge them by."""
    together = len(result.match.players) != 2 or not games.is_zero_sum(result.match.game)
    rewards = sum(result.kept["rewards"]) if together else result.kept["rewards"][0]
    earned = statistics.mean_interval(rewards.mean(axis=0))
    interval = "in a single run" if earned.n == 1 else f"95 % interval {earned.low:.2g} .. {earned.high:.2g}"
    if together:
        return f"Together the players earn {earned.mean:.3g} a round, {interval}."
    return f"The row player earns {earned.mean:.2g} a round, {interval}; the value of the game is not known."


def _outcome_sentence(match: engine.Match, regret: statistics.Estimate) -> str:
    """Return a sentence about the winner, judged by the regret of the row player."""
    low, high = match.game.ranges[0]
    if abs(regret.mean / match.rounds) <= 1e-9 * (high - low):  # rounding
        return "Neither player wins more than the value of the game gives it."
    if regret.n == 1:
        return "A single run cannot separate skill from noise; use more --seeds."
    seat, learner, sign = ("column", match.column, 1) if regret.mean > 0 else ("row", match.row, -1)
    mean, *ends = (sign * total / match.rounds for total in (regret.mean, regret.low, regret.high))
    won = (
        f"wins {mean:.2g} a round more than the value of the game gives it, 95 % interval {min(ends):.2g} .. "
        f"{max(ends):.2g}."
    )
    if min(ends) <= 0:
        return f"Undecided: the {seat} player {won}"
    if regret.n < _FEWEST_SEEDS:
        return (
            f"{regret.n} seeds are too few to decide who wins; use {_FEWEST_SEEDS} or more --seeds. In these runs the "
            f"{seat} player, {learner}, {won}"
        )
    return f"The {seat} player, {learner}, {won}"


@opt.app.command("runtime")
def runtime_command(
    algorithm: Annotated[str, opt.argument("SPEC", "A search, or a learner in self-play.")],
    game: opt.GameSpec,
    budget: Annotated[float, opt.decimal("N", "Maximum rounds per run, such as 1e7.", least=1)] = 1e6,
    until: Annotated[
        str | None, opt.option("CONDITION", 'By default "optimum" for a search, else "exploitability < 0.1".')
    ] = None,
    seeds: Annotated[int, opt.integer("Number of runs.")] = 20,
    first_seed: opt.FirstSeed = 0,
    noise: opt.NoiseSpec = None,
    plot: Annotated[
        Path | None,
        opt.option("FILE", "Draw the share of runs by budget: .png, .svg or .pdf, in a folder that exists."),
    ] = None,
    ioh: Annotated[
        Path | None, opt.option("DIR", "Write files that IOHanalyzer reads; created if it does not exist.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Measure how many rounds, or queries, an algorithm needs to reach an equilibrium.

    \b
    Examples:
      coebl runtime pdcoea:population=500,chi=0.3 --game diagonal:n=100,space=bits --noise none --budget 1e7
      coebl runtime cga --game diagonal:n=100,space=bits --until "exploitability < 0.1"
      coebl runtime kin --game diagonal:n=5 --budget 3000 --until "exploitability < 0.1"
    """
    if not isfinite(budget) or budget != int(budget):
        raise InputError(f"--budget is {budget:g}; accepted: an integer, such as 100000 or 1e7.")
    _check_rounds("--budget", int(budget))
    loaded = games.parse_game(game, noise)
    match = engine.Match.of(loaded, *[algorithm] * len(loaded.seats), rounds=int(budget))
    numbers = _seeds(first_seed, seeds)
    default = "optimum" if isinstance(match.row, search.Search) else "exploitability < 0.1"
    condition = conditions.Until.parse(default if until is None else until)
    if plot:  # both are checked before anything is run
        opt.check_file("--plot", plot, plots.FORMATS)
    if ioh:
        opt.check_folder("--ioh", ioh)
    with progress_bar(printable(str(match)), match.rounds) as advance:
        result = engine.simulate(match, numbers, metrics=[], until=condition, progress=advance)
    runs = runtimes.Runtimes(tuple(result.hitting_times), match.rounds)
    name, share, ert = match.game.spec or match.game.name, runs.share(), runs.ert()
    if plot:
        plots.save(plots.plot_ecdf({str(match.row): runs}).figure, plot.parent, plot.stem, [plot.suffix[1:].lower()])
    if ioh:
        problem = runtimes.Problem(1, name, match.game.spaces[0].width)
        runtimes.write_ioh(ioh, str(match.row), {problem: runs})
    if as_json:
        labels = {"game": name, "algorithm": str(match.row), "noise": str(match.game.noise), "until": str(condition)}
        estimates = {"share": _plain(share, "mean", "low", "high"), "ert": _plain(ert, "mean", "low", "high")}
        print_json(labels | {"budget": match.rounds, "times": runs.times} | estimates)
        return
    print(f"{counted(runs.hits, 'run')} of {len(runs.times)} hit within {runs.budget:,} rounds\n")
    print(f"{printable(str(match.row))} on {printable(name)}, noise {match.game.noise}, until {condition}\n")
    mean, *ends = map(runtimes.time_text, (ert.mean, ert.low, ert.high))
    table = {
        "share of runs": (f"{share.mean:.3f}", f"{share.low:.3f} .. {share.high:.3f} (Wilson)"),
        "expected running time": (mean, f"{' .. '.join(ends)} (bootstrap)"),
    }
    for words, quantile in _QUANTILES.items():
        time = runs.quantile(quantile)
        table[f"{words} of the runs hit by"] = (f"{time:,}" if time is not None else "not yet", "")
    rows = [{"": title, "estimate": number, "95 % interval": ends} for title, (number, ends) in table.items()]
    print_table(rows, right=["estimate"])


# A person against a learner

_STOP = ("q", "quit", "exit")
_MOST_ACTIONS = 1000  # actions to choose from
_SHOWN = 6  # actions; payoffs are printed up to this size
_LISTED = 16  # actions that are named in a line


@opt.app.command("play")
def play_command(
    game: opt.GameSpec,
    against: Annotated[str, opt.option("SPEC", "The learner that you play against.")],
    rounds: Annotated[int, opt.integer("Rounds; q or Ctrl-C ends earlier.", least=1, most=10**6)] = 30,
    seed: Annotated[int | None, opt.integer("Seed of the learner; by default a new one every time.", least=0)] = None,
) -> None:
    """Play against a learner, round by round.

    You are the row player, payoffs have no noise, and the learner chooses before you do. Answer with an action, or with
    the beginning of its name. The learner's policy is shown at the end.

    \b
    Examples:
      coebl play --game rps --against coebl:c=2
      coebl play --game matching-pennies --against exp3 --rounds 50
    """
    played = games.parse_matrix(games.parse_game(game, "none"))
    if (count := len(played.row_labels)) > _MOST_ACTIONS:
        raise InputError(f"--game is {game}, of {count} actions; accepted: at most {_MOST_ACTIONS} to choose from.")
    learner = engine.Player(
        against,
        played.column_labels,
        played.row_labels,
        horizon=rounds,
        seed=seed,
        payoff_range=played.ranges[1],
        noise=0.0,
    )
    learner.act()  # rejects a learner that cannot play before anything is asked
    title = f"{printable(played.spec or played.name)} against {printable(against)}"
    say(f"{title}, {counted(rounds, 'round')}. You are the row player.")
    if max(played.shape) <= _SHOWN:
        print(f"\n{str(played).partition(chr(10))[2]}\n")
    say(f"Your actions: {_listed(played.row_labels)}; q stops.", hang=2)
    mine: Counter[int] = Counter()
    score = 0.0
    try:
        for action in _answers(played.row_labels, rounds):
            other = learner.act()
            payoff = float(played.payoff[action, int(other)])
            learner.observe(reward=-payoff, opponent=action)
            mine[action] += 1
            score += payoff
            moves = f"  you {played.row_labels[action]}, it {played.column_labels[int(other)]}: {payoff:+.4g}"
            say(f"{moves}; score {score + 0.0:+.4g} after {counted(mine.total(), 'round')}", hang=4)
    except KeyboardInterrupt:
        print()
    _sum_up(played, mine, score, learner.policy)


def _answers(labels: Sequence[str], rounds: int) -> Iterator[int]:
    """Yield the actions that the user enters, until all rounds are played, the user quits, or the input ends."""
    left, asks = rounds, sys.stdin.isatty()
    while left:
        try:
            words = input(f"{rounds - left + 1}> " if asks else "").strip().lower()
        except EOFError:
            return
        exact = [place for place, label in enumerate(labels) if label.lower() == words]
        if words in _STOP and not exact:
            return
        fitting = exact or [place for place, label in enumerate(labels) if words and label.lower().startswith(words)]
        if len(fitting) == 1:
            left -= 1
            yield fitting[0]
        elif words or asks:  # a pipe may have empty lines
            reason = "more than one action" if len(fitting) > 1 else "no action"
            say(f"  {one_line(words, 40)!r} is {reason}; accepted: {_listed(labels)}, or q to stop.", hang=4)


def _sum_up(game: games.Game, mine: Counter[int], score: float, policy: Floats) -> None:
    """Print the score, and the learner's next policy beside an equilibrium."""
    rounds = mine.total()
    if not rounds:
        say("No round was played.")
        return
    value = game.value if abs(game.value) > 1e-12 else 0.0
    mean = f"{score / rounds:+.3f} a round. An equilibrium is worth {value:+.3f}."
    say(f"You have {score + 0.0:+.4g} after {counted(rounds, 'round')}: {mean}")
    answers: Floats = game.payoff @ policy
    best = int(answers.argmax())
    say(f"Its current policy is below. Best against it: {game.row_labels[best]}, worth {answers[best]:+.3f}.")
    star = game.solution.column
    shown = sorted(range(len(policy)), key=lambda action: (-policy[action], action))[:_LISTED]
    rows = [
        {
            "its action": game.column_labels[a],
            "policy": f"{policy[a]:.3f}",
            "": "#" * round(30 * policy[a]),
            "equilibrium": f"{star[a]:.3f}",
        }
        for a in shown
    ]
    print_table(rows, right=["policy", "equilibrium"], wrap=["its action"])
    yours = ", ".join(f"{game.row_labels[action]} {count}" for action, count in mine.most_common(_LISTED))
    say(f"You played {yours}.", hang=2)


def _listed(labels: Sequence[str]) -> str:
    more = f", ... ({len(labels)} in all)" if len(labels) > _LISTED else ""
    return ", ".join(one_line(label, 30) for label in labels[:_LISTED]) + more
