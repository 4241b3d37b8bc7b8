"""The learners by name. To add one: write its file, then one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coebl.core.registry import Registry

if TYPE_CHECKING:
    from coebl.learners.base import Learner


def _refusal(factory: object) -> str | None:
    from coebl.learners.base import class_refusal

    return class_refusal(factory)


LEARNERS: Registry[Learner] = Registry(
    "learner",
    "learners",
    homes={
        "coebl": "coebl.learners.coebl:Coebl",
        "kin": "coebl.learners.kin:Kin",
        "ucb": "coebl.learners.ucb:Ucb",
        "exp3": "coebl.learners.exp3:Exp3",
        "exp3-ix": "coebl.learners.exp3_ix:Exp3Ix",
        "tsallis-inf": "coebl.learners.tsallis_inf:TsallisInf",
        "thompson": "coebl.learners.thompson:Thompson",
        "hedge": "coebl.learners.hedge:Hedge",
        "regret-matching": "coebl.learners.regret_matching:RegretMatching",
        "regret-matching-plus": "coebl.learners.regret_matching:RegretMatchingPlus",
        "exp3-ix-neu": "coebl.learners.exp3_ix_neu:Exp3IxNeu",
        "maximin-ucb": "coebl.learners.maximin_ucb:MaximinUcb",
        "explore-then-commit": "coebl.learners.explore_then_commit:ExploreThenCommit",
        "mmd": "coebl.learners.mmd:Mmd",
        "exp3-as-released": "coebl.learners.as_released:Exp3AsReleased",
        "exp3-ix-as-released": "coebl.learners.as_released:Exp3IxAsReleased",
        "ots-hedge": "coebl.learners.ots:OtsHedge",
        "ots-rm": "coebl.learners.ots:OtsRm",
        "gp-mw": "coebl.learners.gp_mw:GpMw",
        "k-learning": "coebl.learners.k_learning:KLearning",
        "uniform": "coebl.learners.opponents:Uniform",
        "fixed": "coebl.learners.opponents:Fixed",
        "nash": "coebl.learners.opponents:Nash",
        "switching": "coebl.learners.opponents:Switching",
        "best-response": "coebl.learners.opponents:BestResponse",
    },
    group="coebl.learners",
    refusal=_refusal,
)
"""The learners by name, those of installed packages included; each is imported when it is first asked for."""


def parse_learner(spec: str | Learner) -> Learner:
    """The learner that a spec names: a registered name or path/to/file.py:Class, then its parameters.

    >>> parse_learner("coebl:c=2")
    Coebl(c=2.0, mutation='gaussian', selection='elitist', recombination='none', population='pool')
    """
    from coebl.learners.base import Learner

    return LEARNERS.resolve(spec, Learner)
