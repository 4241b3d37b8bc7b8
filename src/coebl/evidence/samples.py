"""Samples: one number per seed, read from results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coebl.core.arrays import Floats
from coebl.core.errors import InputError
from coebl.runs import MatchSpecs, Runs, Source


class Setting(NamedTuple):
    """How the matches of a paper are played. Matches that were played otherwise do not count."""

    rounds: int
    noise: str

    def end(self, pairing: MatchSpecs) -> Sample:
        """The last round of a match."""
        return self.at(pairing, self.rounds)

    def at(self, pairing: MatchSpecs, round: int) -> Sample:
        """One round of a match."""
        return self.between(pairing, round, round)

    def between(self, pairing: MatchSpecs, first: int, last: int) -> Sample:
        """The rounds of a match from the first to the last, both included."""
        return Sample(self, pairing, first, last)

    def latest(self, pairing: MatchSpecs, count: int) -> Sample:
        """The last `count` rounds of a match."""
        return self.between(pairing, self.rounds - count + 1, self.rounds)


class Sample(NamedTuple):
    """A number per seed: the mean of a metric over the recorded rounds of a match from the first to the last."""

    setting: Setting
    pairing: MatchSpecs
    first: int
    last: int

    def __str__(self) -> str:
        if self.first < self.last:
            return f"{self.pairing}, rounds {self.first} to {self.last}"
        return str(self.pairing) if self.last == self.setting.rounds else f"{self.pairing}, round {self.last}"


class Missing(NamedTuple):
    """A match without the data that a check needs, and why; an empty reason means that the match was not played."""

    pairing: MatchSpecs
    reason: str


class Reader:
    """Reads samples from a source, each match and metric once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._present = {MatchSpecs(*match) for match in source.matches()}
        self._runs: dict[tuple[MatchSpecs, str], Runs | Missing] = {}

    def read(self, samples: Sequence[Sample], metric: str) -> Floats | list[Missing]:
        """The samples, of shape (samples, seeds), at the seeds that they share, sorted; or what is missing."""
        by_seed = [self._numbers(sample, metric) for sample in samples]
        missing = [numbers for numbers in by_seed if isinstance(numbers, Missing)]
        if missing:
            return missing
        found = [numbers for numbers in by_seed if not isinstance(numbers, Missing)]
        shared = sorted(set.intersection(*map(set, found)))
        if len(shared) < 2:
            return [Missing(samples[0].pairing, f"{samples[0]}: fewer than two seeds")]
        return np.array([[numbers[seed] for seed in shared] for numbers in found])

    def _numbers(self, sample: Sample, metric: str) -> dict[int, float] | Missing:
        """Seed to number, or why there are none."""
        runs = self._read(sample.pairing, metric)
        if isinstance(runs, Missing):
            return runs
        rounds, noise = sample.setting
        window = runs.values[(sample.first <= runs.rounds) & (runs.rounds <= sample.last)]
        if runs.horizon not in (None, rounds) or runs.noise not in (None, noise):
            reason = (
                f"the match has {runs.horizon} rounds and noise {runs.noise}, "
                f"where the paper's has {rounds} rounds and noise {noise}"
            )
        elif sample.last not in runs.rounds:  # a shorter match has no such window, not a part of it
            reason = f"round {sample.last} is not recorded"
        elif not np.isfinite(window).all():
            reason = f"{metric} is not finite in every run"
        else:
            return dict(zip(runs.seeds.tolist(), window.mean(axis=0).tolist(), strict=True))
        return Missing(sample.pairing, f"{sample}: {reason}")

    def _read(self, pairing: MatchSpecs, metric: str) -> Runs | Missing:
        key = pairing, metric
        if key not in self._runs:
            try:
                self._runs[key] = self._source.runs(*pairing, metric)
            except InputError as error:  # if the match is there, the error says what is wrong with it
                reason = str(error).rstrip(".") if pairing in self._present else ""
                self._runs[key] = Missing(pairing, reason)
        return self._runs[key]
