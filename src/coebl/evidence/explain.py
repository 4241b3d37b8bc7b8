"""Explanations of losses: the worst matches of a learner, the rounds in which it loses, and its policies there.

The matches and the rounds are read from the results of a study. Policies are not stored, so a few runs of the worst
match are played again: a run is a function of its match and its seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coebl.core.arrays import Booleans, Floats, Ints
from coebl.core.errors import InputError
from coebl.core.frames import pl
from coebl.core.registry import Registry
from coebl.core.specs import files_in, without_folder
from coebl.core.text import counted, in_interval, listed
from coebl.engine import Match, Result, simulate
from coebl.evidence.pairwise import DECISIVE, SETTING, Pairing, by_seat, pooled, tests_of
from coebl.evidence.statistics import Estimate
from coebl.games import GAMES, NOISES
from coebl.games.game import has_matrix
from coebl.learners import LEARNERS, REFERENCES
from coebl.naming import Known, find, game_title, known_to, learner_titles
from coebl.solver import solve_matrix

if TYPE_CHECKING:
    from coebl.study import Results

_REPLAYED = 5  # runs that are played again
_NEARLY = 1e-9  # of the payoff range: less is rounding
_SHOWN = 3  # matches and opponents that a sentence names


@dataclass(frozen=True)
class Play:
    """The play of a learner in some runs of its worst match: arrays are (rounds, runs), shares of the payoff range."""

    result: Result  # with the policies of every round
    seat: Literal["row", "column"]  # of the learner
    as_stored: bool  # True if the runs have the stored numbers, to the last bit
    dominated: Booleans  # (actions,): True if another action, or a mixture, is never worse, and sometimes better
    on_dominated: Floats  # the probability of dominated actions
    on_leader: Floats  # the probability of the actions that would have earned most against the opponent so far
    loss: Floats  # below the value of the game
    loss_off_leader: Floats  # the part of it on other actions
    at_risk: Floats  # the loss to a best response


@dataclass(frozen=True)
class Explanation:
    """The reasons why a learner loses; printed, it is a few sentences."""

    learner: str
    metric: str
    losses: list[Pairing]  # of an opponent and the learner, in payoff ranges a round; the largest advantage first
    exploited: dict[str, Estimate]  # by opponent: its gain above that from the other learners, largest first
    rounds: Ints  # the recorded rounds of the match with the largest loss
    curve: Floats  # (rounds, seeds): the loss up to each of them, in payoff ranges
    play: Play | str  # or the reason why no run could be played again
    known: Known

    @property
    def names(self) -> dict[str, str]:
        """The titles of the learners by their specs."""
        specs = [self.learner, *(loss.first for loss in self.losses), *self.exploited]
        return {spec: title.replace("\u00a0", " ") for spec, title in learner_titles(specs, self.known).items()}

    def match_title(self, loss: Pairing) -> str:
        """Return the opponent and the game; and noise and rounds, if the study has several."""
        words = [f"{self.names[loss.first]} on {game_title(loss.game)}".replace("\u00a0", " ")]
        words += [loss.noise] * (len({other.noise for other in self.losses}) > 1)
        words += [f"{loss.rounds} rounds"] * (len({other.rounds for other in self.losses}) > 1)
        return ", ".join(words)

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def sentences(self) -> Iterator[str]:
        """Yield the sentences on the matches, the opponents that exploit it, the rounds, and the policies."""
        name, worst = self.names[self.learner], self.losses[0]
        lost, won = (sum(loss.advantage.sign == sign for loss in self.losses) for sign in (1, -1))
        yield (
            f"{name}, {counted(len(self.losses), 'match', 'matches')} with others: {lost} lost, {won} won, "
            f"{len(self.losses) - lost - won} undecided."
        )
        if worst.advantage.mean <= 0:
            yield "It loses nothing on average, so its smallest gain is explained."
        shown = [loss for loss in self.losses if loss.advantage.sign > 0][:_SHOWN] or [worst]
        matches = "; ".join(f"{self.match_title(loss)}, {_percent(loss.advantage)}" for loss in shown)
        yield f"It loses most to {matches} of the payoff range a round."
        more = [(spec, estimate) for spec, estimate in self.exploited.items() if estimate.sign > 0][:_SHOWN]
        if more:
            words = "; ".join(f"{self.names[spec]}, {_percent(estimate)}" for spec, estimate in more)
            yield f"Over all games, these opponents take more from it than from the other learners: {words}."
        elif self.exploited:
            yield "No opponent takes significantly more from it than from the other learners."
        yield from self._when(self.match_title(worst))
        if isinstance(self.play, str):
            yield f"Its policies are not stored, and the match could not be played again: {self.play}."
        else:
            yield from _what(self.play, self.names[worst.first])

    def _when(self, match: str) -> Iterator[str]:
        """Yield the rounds in which the loss arises."""
        last = int(self.rounds[-1])
        if len(self.rounds) < 3 or last < 20:
            yield 'When the loss arises is unknown, as few rounds were recorded. Set record = "log" in the study file.'
            return
        mean = self.curve.mean(axis=1)
        if mean[-1] <= 0:
            return
        tenth, half, whole = np.interp([last / 10, last / 2, last], [0, *self.rounds], [0, *mean])
        rate, late = 100 * whole / last, 100 * (whole - half) / (last - last / 2)
        kind = "mostly a cost of learning" if late < rate / 4 else "it does not end" if late > 3 * rate / 4 else ""
        early = f"{100 * tenth / whole:.0f} %" if tenth > 0 else "none"
        yield (
            f"Against {match}, {early} of the loss arises in the first tenth of the rounds; in the second half it "
            f"loses {late:.2g} % a round, against {rate:.2g} % over all{f': {kind}' if kind else ''}."
        )


def _percent(share: Estimate) -> str:
    """Return a share with its interval, if there are several seeds, such as "3.12 % [2.88, 3.36]"."""
    mean, low, high = in_interval(*(100 * number for number in (share.mean, share.low, share.high)))
    return f"{mean} %" if share.n == 1 else f"{mean} % [{low}, {high}]"


def _two_digits(percent: float) -> str:
    """Return a percentage to two digits; what is left by rounding is 0."""
    return f"{0 if abs(percent) < 100 * _NEARLY else percent:.2g} %"


def _what(play: Play, opponent: str) -> Iterator[str]:
    """Yield sentences on the policies in the runs that were played again."""
    rounds, runs = play.loss.shape
    late = slice(rounds // 2, None)
    seeds = f"seeds {', '.join(map(str, play.result.seeds))}" if runs > 1 else f"seed {play.result.seeds[0]}"
    agree = "; the numbers equal the stored ones, to the last bit" if play.as_stored else ""
    yield f"To see its policies, that match was played again in the {play.seat} seat ({seeds}){agree}."
    if not play.as_stored:
        yield "The numbers differ from the stored ones, which come from another version or file: read them with care."
    if play.dominated.any():
        count = f"{play.dominated.sum()} of {counted(len(play.dominated), 'action')}"
        whole, half = (f"{100 * share.mean():.0f} %" for share in (play.on_dominated, play.on_dominated[late]))
        yield f"{whole} of its play, {half} in the second half, is on dominated actions ({count})."
    else:
        yield "No action of the game is dominated."
    off = 100 * play.loss_off_leader.mean()
    on = 100 * play.loss.mean() - off
    words = [f"{'costs' if part > 0 else 'earns'} {_two_digits(abs(part))}" for part in (on, off)]
    yield (
        f"With probability {play.on_leader.mean():.2f}, {play.on_leader[late].mean():.2f} in the second half, it "
        f"exploits: it plays what would have earned most against {opponent} so far. That {words[0]} of the payoff "
        f"range a round; all other play, exploration, {words[1]}."
    )
    risk, late_risk, loss, late_loss = (
        _two_digits(100 * share.mean()) for part in (play.at_risk, play.loss) for share in (part, part[late])
    )
    yield (
        f"A best response to its policies would take {risk} of the payoff range a round, in the second half "
        f"{late_risk}; {opponent} takes {loss} and {late_loss}."
    )


def explain(results: Results, learner: str, *, runs: int = _REPLAYED) -> Explanation:
    """Explain where a learner of a study loses, in which rounds, and what it plays there.

    A few runs of its worst match are played again. Files that the results name are not run: a learner in a file plays
    only if it is named here by its path, `path/to/mine.py:Mine`.

    Args:
        results: the results of a study.
        learner: any equivalent spec of a learner.
        runs: the largest number of runs that are played again; 0 for none.

    >>> from coebl.study import Results
    >>> print(next(explain(Results("results"), "exp3").sentences()))
    Exp3, 1 match with others: 0 lost, 0 won, 1 undecided.
    """
    if not results.records():
        raise InputError(results.why_empty())
    metric = next((name for name in DECISIVE if name in results.metrics), None)
    if metric is None:
        if all(record.seats for record in results.records()):
            raise InputError(f"{results.store.folder}: no game is zero-sum; accepted: a study of zero-sum games.")
        raise InputError(
            f"the results have none of {', '.join(DECISIVE)}; add pseudo_regret to the metrics of the study and run it."
        )
    everyone = sorted({spec for _, *pair in results.matches() for spec in pair}, key=LEARNERS.order)
    named = find("player", without_folder(learner), everyone, "learner")
    known = known_to(results)
    samples = _shares(results.last([metric]), metric, known)
    references = {spec for spec, kind in results.kinds().items() if kind in REFERENCES} - {named}
    peers = samples.filter(~pl.col("learner").is_in(references), ~pl.col("opponent").is_in(references))
    if named in peers["learner"]:
        samples = peers  # every bandit loses to learners that see more
    own = samples.filter(learner=named)
    if not len(own):
        met = listed([spec for spec in everyone if spec != named])
        raise InputError(f"{named} met no other learner; run a study in which it does. Other learners: {met}.")
    keys = [*SETTING, "opponent"]
    tests = tests_of(pooled(own, keys, ["seat"]), keys, f"the matches of {named}")
    losses = [Pairing(game, noise, length, rival, named, loss) for (game, noise, length, rival), loss in tests.items()]
    losses.sort(key=lambda loss: -loss.advantage.mean)
    worst = losses[0]
    by_seats = own.filter(game=worst.game, noise=worst.noise, rounds=worst.rounds, opponent=worst.first)
    means = {name: of_seat["value"].mean() for (name,), of_seat in by_seats.group_by("seat")}
    seat: Any = max(means, key=lambda name: (means[name], name == "row"))
    pair = [named, worst.first][:: 1 if seat == "row" else -1]
    table = results.curves([metric], game=worst.game, players=pair, noise=worst.noise)
    curves = _shares(table.filter(rounds=worst.rounds), metric, known, ["round"]).filter(learner=named, seat=seat)
    curves = curves.sort("seed", "round")
    recorded = curves["round"].unique().sort().to_numpy()
    curve = (curves["value"] * worst.rounds).to_numpy().reshape(-1, len(recorded)).T
    play: Play | str = "runs is 0"
    if runs:
        stored = dict(table.filter(rounds=worst.rounds, round=worst.rounds).select("seed", metric).iter_rows())
        play = _play_again(worst, pair, seat, {named: learner} if files_in(learner) else {}, metric, stored, runs)
    return Explanation(named, metric, losses, _exploited(own, samples), recorded, curve, play, known)


def _shares(table: pl.DataFrame, metric: str, known: Known, keep: Sequence[str] = ()) -> pl.DataFrame:
    """Return the loss of every learner in every match with another one, in payoff ranges per round."""
    if missing := [game for game in table["game"].unique().sort() if not known.widths.get(game)]:
        raise InputError(
            f"the results do not have the payoff range of {missing[0]}; run the study again, with this version."
        )
    width = pl.col("game").replace_strict(known.widths, return_dtype=pl.Float64)
    sides = by_seat(table, metric, keep=keep).filter(
        pl.col("value").is_finite(), pl.col("learner") != pl.col("opponent")
    )
    return sides.with_columns(value=pl.col("value") / width / pl.col("rounds"))


def _exploited(own: pl.DataFrame, samples: pl.DataFrame) -> dict[str, Estimate]:
    """Return the gain of each opponent from a learner above its mean gain from the others, largest first."""
    keys = [*SETTING, "opponent", "seat", "seed"]
    learner = own["learner"][0]
    others = samples.filter(pl.col("learner") != learner).group_by(keys, maintain_order=True).agg(usual="value")
    others = others.with_columns(pl.col("usual").list.mean())
    more = own.join(others, on=keys).with_columns(value=pl.col("value") - pl.col("usual"))
    tests = tests_of(pooled(more, ["opponent"], [*SETTING, "seat"]), ["opponent"], f"the opponents of {learner}")
    by_gain = sorted(tests.items(), key=lambda item: -item[1].mean)
    return {spec: estimate for (spec,), estimate in by_gain}


def _play_again(
    loss: Pairing,
    pair: Sequence[str],
    seat: Literal["row", "column"],
    named: Mapping[str, str],
    metric: str,
    stored: Mapping[int, float],
    runs: int,
) -> Play | str:
    """Play some runs of a match again, or return the reason why not; `named` has the files that the user names."""
    kinds: list[tuple[Registry[Any], str]] = [(GAMES, loss.game), (NOISES, loss.noise)]
    kinds += [(LEARNERS, spec) for spec in pair if spec not in named]
    for registry, spec in kinds:
        if registry.known(spec) is None:
            repair = f"; to play them, name it by its path: path/to/{spec}" * (spec in pair and spec != loss.first)
            return f"{spec} is not in this package, and files that results name are not run{repair}"
    row, column = (named.get(spec, spec) for spec in pair)
    match = Match.of(loss.game, row, column, rounds=loss.rounds, noise=loss.noise)
    game = match.game
    if not has_matrix(game):
        return f"{game.name} has no payoff matrix, or more than one"
    seeds = list(stored)[:runs]
    result = simulate(match, seeds, record="last", metrics=[metric], keep=["policies"])
    place = ("row", "column").index(seat)
    policies, others = result.kept["policies"][:: 1 if place == 0 else -1]  # (rounds, runs, actions)
    payoff, width = game.own_view(seat), game.payoff_range[1] - game.payoff_range[0]
    value = game.value if place == 0 else -game.value
    earned = others @ payoff.T  # by action: (rounds, runs, actions)
    before = earned.cumsum(axis=0) - earned
    leads = before >= before.max(axis=-1, keepdims=True) - _NEARLY * width * (1 + np.arange(loss.rounds))[:, None, None]
    off_leader = np.where(leads, 0, policies)
    worse = dominated_actions(payoff)
    return Play(
        result=result,
        seat=seat,
        as_stored=result.final(metric).tolist() == [stored[seed] for seed in seeds],
        dominated=worse,
        on_dominated=policies[..., worse].sum(axis=-1),
        on_leader=1 - off_leader.sum(axis=-1),
        loss=(value - (policies * earned).sum(axis=-1)) / width,
        loss_off_leader=(off_leader * (value - earned)).sum(axis=-1) / width,
        at_risk=(value - (policies @ payoff).min(axis=-1)) / width,
    )


def dominated_actions(payoff: Floats) -> Booleans:
    """Return True for actions to which another is never worse and sometimes better, or a mixture always better.

    Args:
        payoff: the payoffs of a player, who maximises; its actions are the rows.

    >>> dominated_actions(np.array([[3.0, 0.0], [0.0, 3.0], [1.0, 1.0], [3.0, -1.0]]))
    array([False, False,  True,  True])
    """
    width = max(float(payoff.max() - payoff.min()), np.finfo(float).tiny)
    dominated = np.zeros(len(payoff), dtype=bool)
    for action, own in enumerate(payoff):
        gains = np.delete(payoff, action, axis=0) - own
        if len(gains):
            pure = ((gains >= 0).all(axis=1) & (gains > 0).any(axis=1)).any()
            dominated[action] = pure or solve_matrix(gains).value > _NEARLY * width
    return dominated
