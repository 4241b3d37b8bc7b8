"""The learners by name. To add one: write its file, then one line here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from coebl.core.errors import shorten
from coebl.core.registry import Registry
from coebl.learners.base import AIMS, PLAYS, SIGHTS, Learner, Responder


def _reason_to_reject(factory: type[Learner]) -> str | None:
    """Return why a class cannot be registered, in one line; None if it can."""
    for name, known, example in (("sees", SIGHTS, "opponent"), ("plays", PLAYS, "bits")):
        value: Any = getattr(factory, name)
        listed = isinstance(value, Collection) and not isinstance(value, str)
        if not listed or any(item not in list(known) for item in value) or (name == "plays" and not value):
            hint = " For seen.probability, write importance_weighted = True." if "probability" in shorten(value) else ""
            return (
                f'{name} is {shorten(value)}; accepted: a subset of {", ".join(known)}, such as {{"{example}"}}.{hint}'
            )
    if factory.aim not in list(AIMS):
        return f"aim is {shorten(factory.aim)}; accepted: {', '.join(AIMS)}."
    if ("policy" in factory.sees) != issubclass(factory, Responder):
        return "only a learner that extends coebl.learners.Responder sees the policy; extend it, or change sees."
    return None


LEARNERS = Registry(
    "learner",
    "learners",
    base=Learner,
    rejects=_reason_to_reject,
    homes={
        "coebl": "coebl.learners.coebl:Coebl",
        "kin": "coebl.learners.kin:Kin",
        "strain": "coebl.learners.strain:Strain",
        "ucb": "coebl.learners.ucb:Ucb",
        "exp3": "coebl.learners.exp3:Exp3",
        "exp3-ix": "coebl.learners.exp3:Exp3Ix",
        "tsallis-inf": "coebl.learners.exp3:TsallisInf",
        "thompson": "coebl.learners.thompson:Thompson",
        "hedge": "coebl.learners.full_information:Hedge",
        "regret-matching": "coebl.learners.full_information:RegretMatching",
        "regret-matching-plus": "coebl.learners.full_information:RegretMatchingPlus",
        "exp3-ix-neu": "coebl.learners.exp3:Exp3IxNeu",
        "maximin-ucb": "coebl.learners.ucb:MaximinUcb",
        "explore-then-commit": "coebl.learners.ucb:ExploreThenCommit",
        "mmd": "coebl.learners.exp3:Mmd",
        "exp3-as-released": "coebl.learners.exp3:Exp3AsReleased",
        "exp3-ix-as-released": "coebl.learners.exp3:Exp3IxAsReleased",
        "ots-hedge": "coebl.learners.thompson:OtsHedge",
        "ots-rm": "coebl.learners.thompson:OtsRm",
        "gp-mw": "coebl.learners.thompson:GpMw",
        "k-learning": "coebl.learners.k_learning:KLearning",
        "pbil": "coebl.learners.genes:Pbil",
        "gene-lr": "coebl.learners.genes:GeneLr",
        "umda": "coebl.learners.genes:Umda",
        "gene-bilin": "coebl.learners.genes:GeneBilin",
        "hill-climber": "coebl.learners.genes:HillClimber",
        "as-atoms": "coebl.learners.genes:AsAtoms",
        "fixed-genome": "coebl.learners.opponents:FixedGenome",
        "uniform": "coebl.learners.opponents:Uniform",
        "fixed": "coebl.learners.opponents:Fixed",
        "nash": "coebl.learners.opponents:Nash",
        "switching": "coebl.learners.opponents:Switching",
        "best-response": "coebl.learners.opponents:BestResponse",
        "pdcoea": "coebl.search:Pdcoea",
        "1-lambda-coea": "coebl.search:LambdaCoea",
        "rls-pd": "coebl.search:RlsPd",
        "1+1-coea": "coebl.search:OnePlusOneCoea",
        "cga": "coebl.search:Cga",
        "blum-mansour": "coebl.learners.swap_regret:BlumMansour",
        "hart-mas-colell": "coebl.learners.swap_regret:HartMasColell",
        "fictitious-play": "coebl.learners.ucb:FictitiousPlay",
    },
    group="coebl.learners",
)
"""The learners by name, those of installed packages included; each is imported when it is first used."""


def parse_learner(spec: str | Learner) -> Learner:
    """Return the learner that a spec names: a registered name or path/to/file.py:Class, then its parameters.

    >>> parse_learner("coebl:c=2")
    Coebl(forgetting=1.0, c=2.0, mutation=Gaussian(), selection=Elitist(judge='mutants'), recombination=Nothing(),
          population=Pool(size=1, mutants=1, play='mean', turnover=1.0))
    """
    return LEARNERS.resolve(spec)
