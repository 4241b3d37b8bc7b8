"""What games, learners and metrics are called where people read them."""

from __future__ import annotations

from typing import NamedTuple

GAMES = {"rps": "Rock-paper-scissors", "diagonal": "Diagonal", "bigger-number": "BiggerNumber"}

LEARNERS = {
    "coebl": "COEBL",
    "ucb": "UCB",
    "exp3": "Exp3",
    "exp3-ix": "Exp3-IX",
    "exp3-as-released": "Exp3 as released",
    "exp3-ix-as-released": "Exp3-IX as released",
    "best-response": "best response",
}


class MetricName(NamedTuple):
    """A metric in words."""

    title: str
    meaning: str = ""  # a sentence or two
    formula: str = ""  # in mathtext: V is the value of the game, r_t the observed reward


METRICS = {
    "regret": MetricName(
        "Regret",
        "What the row player fell short of the game's value, as observed; noise included.",
        r"$\Sigma\,(V - r_t)$",
    ),
    "pseudo_regret": MetricName(
        "Pseudo-regret",
        "The same expectation as regret, without the noise of rewards and actions.",
        r"$\Sigma\,(V - x_t^\top\! A y_t)$",
    ),
    "absolute_regret": MetricName(
        "Absolute regret",
        "The first measure of the paper's text. Noise alone makes it grow.",
        r"$\Sigma\,|V - r_t|$",
    ),
    "regret_magnitude": MetricName(
        "Regret magnitude",
        "The first measure as the paper's program computes it.",
        r"$|\Sigma\,(V - r_t)|$",
    ),
    "absolute_pseudo_regret": MetricName(
        "Absolute pseudo-regret",
        "How far play was from the game's value, without noise.",
        r"$\Sigma\,|V - x_t^\top\! A y_t|$",
    ),
    "kl": MetricName(
        "KL divergence",
        "How far both policies are from the equilibrium; infinite outside its support.",
        r"$\mathrm{KL}(x_t, x^*) + \mathrm{KL}(y_t, y^*)$",
    ),
    "tv": MetricName(
        "TV distance",
        "Total variation, how far both policies are from the equilibrium: 0 is there, 2 is as far as can be.",
        r"$\mathrm{TV}(x_t, x^*) + \mathrm{TV}(y_t, y^*)$",
    ),
    "exploitability": MetricName(
        "Exploitability",
        "What best responses would gain against both policies; 0 is an equilibrium.",
        r"of $(x_t, y_t)$",
    ),
    "average_exploitability": MetricName(
        "Average exploitability", "The same for the policies averaged over the rounds so far."
    ),
    "external_regret": MetricName("External regret", "What the best fixed row would have earned more, in hindsight."),
    "column_external_regret": MetricName("Column external regret", "The same for the column player."),
}


def metric_name(metric: str) -> MetricName:
    """A metric in words; one of the user's own by its name."""
    return METRICS.get(metric) or MetricName(metric.replace("_", " "))


def lower(title: str) -> str:
    """A title inside a sentence: small, unless it is an abbreviation.

    >>> lower("Pseudo-regret"), lower("KL divergence")
    ('pseudo-regret', 'KL divergence')
    """
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
