"""results/general-sum: which learners reach which kind of equilibrium in self-play, and verdicts on the claims.

Run in the root of a checkout: python -m tools.general_sum DIR. It plays the matches of tools/general_sum.toml that
DIR lacks, one file each, and writes runs.csv, verdicts.json, table.md and the figure of docs/general-sum.md. Without
DIR it judges and draws again from runs.csv.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from coebl import simulate
from coebl.core.arrays import Floats
from coebl.core.files import write_whole
from coebl.core.text import csv_text, markdown_table
from coebl.engine.match import MatchName
from coebl.evidence.checks import Bound, Setting
from coebl.evidence.judge import Verdict, as_json, decide, judge_family, outcome_word
from coebl.evidence.statistics import mean_interval
from coebl.games import GAMES, TensorGame, parse_game
from coebl.naming import learner_titles
from coebl.plots import save
from coebl.plots.style import WIDTH, drawing
from tools.templates import read_csv

PLAN, RESULTS = Path("tools", "general_sum.toml"), Path("results", "general-sum")
DUOPOLIES: dict[str, tuple[Callable[[Any, Any], Any], float, float]] = {
    # the market price, and the joint earnings of the firms in the best pure equilibrium and as a monopoly
    "cournot": (lambda a, b: np.maximum(0, 12 - a - b), 32.0, 36.0),
    "bertrand": (np.minimum, 9.0, 25.0),
}
MEASURES = ("ce", "cce", "swap", "external", "nash_conv", "earned", "collusion", "price")
Runs = Mapping[tuple[str, str], Mapping[str, Floats]]  # by game and learner, then by measure: one number per seed


def play(game_spec: str, learner: str, rounds: int, seeds: Sequence[int]) -> dict[str, Floats]:
    """Return the measures of self-play, one number per seed each."""
    game = parse_game(game_spec)
    assert isinstance(game, TensorGame)
    players = range(1, len(game.shape) + 1)
    regrets = {kind: [f"{kind}_regret:{seat}" for seat in players] for kind in ("swap", "external")}
    result = simulate(
        game,
        *[learner] * len(players),
        rounds=rounds,
        seeds=seeds,
        record=rounds // 100,
        metrics=["nash_conv", *regrets["swap"], *regrets["external"]],
        keep=["actions", "counts"],
    )
    percent = [100 / np.ptp(payoff) for payoff in game.payoffs]
    late = [actions[rounds // 2 :] for actions in result.kept["actions"]]
    earned = sum(payoff[tuple(late)] for payoff in game.payoffs).mean(axis=0)
    measures = {
        "ce": game.distance_to_correlated(result.kept["counts"]).distance,
        "cce": game.distance_to_correlated(result.kept["counts"], coarse=True).distance,
        "nash_conv": result.metrics["nash_conv"][50:].mean(axis=0) * percent[0] / len(players),
        "earned": earned / len(players),
    }
    for kind, names in regrets.items():
        per_player = [result.final(name) * width / rounds for name, width in zip(names, percent, strict=True)]
        measures[kind] = np.mean(per_player, axis=0)
    if game_spec in DUOPOLIES:
        price, nash, monopoly = DUOPOLIES[game_spec]
        measures |= {"price": price(*late).mean(axis=0), "collusion": (earned - nash) / (monopoly - nash)}
    return measures


def run(folder: Path, plan: Mapping[str, Any]) -> None:
    """Play the matches that a folder lacks, in two processes."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = range(plan["first_seed"], plan["first_seed"] + plan["seeds"])
    with ProcessPoolExecutor(2) as pool:
        waiting = {
            pool.submit(play, game, learner, plan["rounds"], seeds): (game, learner)
            for game in plan["games"]
            for learner in plan["learners"]
            if not _file(folder, game, learner).exists()
        }
        for future, (game, learner) in waiting.items():
            numbers = future.result()
            rows = [
                {"game": game, "learner": learner, "seed": seed}
                | {measure: float(f"{numbers[measure][run]:.6g}") if measure in numbers else "" for measure in MEASURES}
                for run, seed in enumerate(seeds)
            ]
            write_whole(_file(folder, game, learner), csv_text(rows, list(rows[0])))
            print(f"{game}, {learner}", flush=True)


def _file(folder: Path, game: str, learner: str) -> Path:
    return folder / f"{game} {learner.replace(':', ' ')}.csv"


def read_runs(path: Path) -> Runs:
    """Return the measures in a file of runs."""
    runs: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in read_csv(path):
        measures = runs.setdefault((row["game"], row["learner"]), {})
        for measure in MEASURES:
            if row[measure]:
                measures.setdefault(measure, []).append(float(row[measure]))
    return {match: {name: np.array(numbers) for name, numbers in measures.items()} for match, measures in runs.items()}


def verdicts_on(runs: Runs, plan: Mapping[str, Any]) -> list[tuple[Verdict, int]]:
    """Return the verdict on each claim, with the number of its checks that are allowed to miss."""
    verdicts = []
    setting = Setting(plan["rounds"], "gaussian")
    for claim in plan["claims"]:
        subjects = plan["learners"] if claim["subjects"] == "all" else claim["subjects"]
        checks, numbers = [], []
        for game in claim.get("games", plan["games"]):
            for learner in subjects:
                for stated in (claim, claim["and"]) if "and" in claim else (claim,):
                    players = [learner, claim["minus"]] if "minus" in claim else [learner]
                    samples = tuple(setting.end(MatchName(game, player, player)) for player in players)
                    checks.append(Bound(samples, stated["value"], stated["side"]))
                    numbers.append(np.array([runs[game, player][stated["measure"]] for player in players]))
        results = judge_family(checks, numbers, f"the checks of {claim['id']}")
        outcome, decisive = decide(results)
        note = f"{sum(result.verdict == 'holds' for result in results)} of {len(results)} checks hold; {decisive}"
        verdict = Verdict(claim["id"], "", outcome, claim["measure"], claim["sentence"], note, results, decisive)
        verdicts.append((verdict, claim["may_miss"]))
    return verdicts


def claims_table(verdicts: Sequence[tuple[Verdict, int]]) -> str:
    """Return the verdicts as a table in Markdown."""
    rows = [["claim", "verdict", "checks that hold", "aim"]]
    for verdict, may_miss in verdicts:
        hold = sum(result.verdict == "holds" for result in verdict.checks)
        aim = "reached" if len(verdict.checks) - hold <= may_miss else "missed"
        allowed = f"{aim}: {len(verdict.checks) - hold} not shown, {may_miss} allowed"
        rows.append([verdict.text, outcome_word(verdict.verdict), f"{hold} of {len(verdict.checks)}", allowed])
    return markdown_table(rows)


def game_table(runs: Runs, plan: Mapping[str, Any], game: str) -> str:
    """Return the measures of a game as a table in Markdown: means, with half of their 95 % intervals."""
    digits = {"ce": 3, "cce": 3, "earned": 2 if game in DUOPOLIES else 3, "collusion": 2, "price": 2}
    heads = {
        "ce": "to correlated",
        "cce": "to coarse correlated",
        "swap": "swap regret, %",
        "external": "external regret, %",
        "nash_conv": "NashConv, %",
        "earned": "earned",
        "collusion": "collusion",
        "price": "price",
    }
    shown = [measure for measure in MEASURES if measure in runs[game, plan["learners"][0]]]
    titles = learner_titles(plan["learners"])
    rows = [[GAMES[game].title, *(heads[measure] for measure in shown)]]
    for learner in plan["learners"]:
        rows.append([titles[learner]])
        for measure in shown:
            estimate = mean_interval(runs[game, learner][measure])
            places = digits.get(measure, 1)
            rows[-1].append(f"{estimate.mean:.{places}f} ± {(estimate.high - estimate.low) / 2:.{places}f}")
    return markdown_table(rows)


def draw(runs: Runs, plan: Mapping[str, Any], target: Path) -> None:
    """Draw the distances to both kinds of equilibria, a panel per game."""
    learners, titles = plan["learners"][::-1], learner_titles(plan["learners"])
    with drawing(WIDTH, 1.4 + 0.36 * len(learners)) as figure:
        panels = figure.subplots(2, 2, sharey=True)
        for ax, game in zip(panels.flat, plan["games"], strict=True):
            for measure, fill, label in (("cce", "white", "coarse correlated"), ("ce", "C0", "correlated")):
                estimates = [mean_interval(runs[game, learner][measure]) for learner in learners]
                ends = [[e.mean - max(0.0, e.low) for e in estimates], [min(e.high, 1.0) - e.mean for e in estimates]]
                places = np.arange(len(learners)) + (0.17 if measure == "cce" else -0.17)
                ax.errorbar(
                    [e.mean for e in estimates],
                    places,
                    xerr=ends,
                    fmt="o",
                    label=label,
                    color="C0",
                    markerfacecolor=fill,
                    markersize=4,
                    clip_on=False,
                )
            ax.set(title=GAMES[game].title, xlim=(0, 1), yticks=range(len(learners)))
            ax.set_yticklabels([titles[learner] for learner in learners])
            ax.grid(axis="x", alpha=0.3)
        figure.supxlabel("share of the joint play that differs from the nearest equilibrium", fontsize="medium")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, title="nearest equilibrium that is", loc="outside upper center", ncols=2)
        save(figure, target, "figure", ["svg", "png"])


def publish(target: Path, plan: Mapping[str, Any]) -> None:
    """Judge the claims, and write tables and the figure, from runs.csv."""
    runs = read_runs(target / "runs.csv")
    verdicts = verdicts_on(runs, plan)
    write_whole(target / "verdicts.json", as_json(verdict for verdict, _ in verdicts) + "\n")
    tables = [claims_table(verdicts), *(game_table(runs, plan, game) for game in plan["games"])]
    write_whole(target / "table.md", "\n".join(tables))
    draw(runs, plan, target)


if __name__ == "__main__":
    study = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    if len(sys.argv) > 1:
        place = Path(sys.argv[1])
        run(place, study)
        parts = [
            _file(place, game, learner).read_text(encoding="utf-8").splitlines(True)
            for game in study["games"]
            for learner in study["learners"]
        ]
        RESULTS.mkdir(parents=True, exist_ok=True)
        write_whole(RESULTS / "runs.csv", parts[0][0] + "".join(line for part in parts for line in part[1:]))
    publish(RESULTS, study)
