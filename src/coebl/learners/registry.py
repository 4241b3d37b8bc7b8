"""The learners by name. To add one: write its file, then one line here."""

from __future__ import annotations

from coebl.core.registry import Registry
from coebl.learners.base import Learner, reason_to_reject

LEARNERS = Registry(
    "learner",
    "learners",
    base=Learner,
    rejects=reason_to_reject,
    homes={
        "coebl": "coebl.learners.coebl:Coebl",
        "kin": "coebl.learners.kin:Kin",
        "strain": "coebl.learners.strain:Strain",
        "ucb": "coebl.learners.ucb:Ucb",
        "exp3": "coebl.learners.exp3:Exp3",
        "exp3-ix": "coebl.learners.exp3:Exp3Ix",
        "tsallis-inf": "coebl.learners.tsallis_inf:TsallisInf",
        "thompson": "coebl.learners.thompson:Thompson",
        "hedge": "coebl.learners.hedge:Hedge",
        "regret-matching": "coebl.learners.regret_matching:RegretMatching",
        "regret-matching-plus": "coebl.learners.regret_matching:RegretMatchingPlus",
        "exp3-ix-neu": "coebl.learners.exp3:Exp3IxNeu",
        "maximin-ucb": "coebl.learners.maximin_ucb:MaximinUcb",
        "explore-then-commit": "coebl.learners.explore_then_commit:ExploreThenCommit",
        "mmd": "coebl.learners.mmd:Mmd",
        "exp3-as-released": "coebl.learners.exp3:Exp3AsReleased",
        "exp3-ix-as-released": "coebl.learners.exp3:Exp3IxAsReleased",
        "ots-hedge": "coebl.learners.ots:OtsHedge",
        "ots-rm": "coebl.learners.ots:OtsRm",
        "gp-mw": "coebl.learners.gp_mw:GpMw",
        "k-learning": "coebl.learners.k_learning:KLearning",
        "pbil": "coebl.learners.genes.pbil:Pbil",
        "gene-lr": "coebl.learners.genes.gene_lr:GeneLr",
        "umda": "coebl.learners.genes.umda:Umda",
        "gene-bilin": "coebl.learners.genes.gene_bilin:GeneBilin",
        "hill-climber": "coebl.learners.genes.hill_climber:HillClimber",
        "as-atoms": "coebl.learners.genes.as_atoms:AsAtoms",
        "fixed-genome": "coebl.learners.opponents:FixedGenome",
        "uniform": "coebl.learners.opponents:Uniform",
        "fixed": "coebl.learners.opponents:Fixed",
        "nash": "coebl.learners.opponents:Nash",
        "switching": "coebl.learners.opponents:Switching",
        "best-response": "coebl.learners.opponents:BestResponse",
        "pdcoea": "coebl.search.coevolution:Pdcoea",
        "1-lambda-coea": "coebl.search.coevolution:LambdaCoea",
        "rls-pd": "coebl.search.coevolution:RlsPd",
        "1+1-coea": "coebl.search.coevolution:OnePlusOneCoea",
        "cga": "coebl.search.coevolution:Cga",
        "blum-mansour": "coebl.learners.blum_mansour:BlumMansour",
        "hart-mas-colell": "coebl.learners.hart_mas_colell:HartMasColell",
        "fictitious-play": "coebl.learners.fictitious_play:FictitiousPlay",
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
