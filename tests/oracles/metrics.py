"""The metrics' slow twins: one run, one round at a time, plain Python, each from its definition.

Each takes the play of one run, a list of rounds (x, y, a, b, r), and returns the metric after the last one.
"""

import itertools
import math


def mean_of(A, x, y):
    return sum(x[i] * A[i][j] * y[j] for i in range(len(A)) for j in range(len(A[0])))


def unit(k, size):
    return [1.0 if i == k else 0.0 for i in range(size)]


def regret(A, value, star, play):
    return sum(value - r for _, _, _, _, r in play)


def pseudo_regret(A, value, star, play):
    return sum(value - mean_of(A, x, y) for x, y, _, _, _ in play)


def absolute_regret(A, value, star, play):
    return sum(abs(value - r) for _, _, _, _, r in play)


def regret_magnitude(A, value, star, play):
    return abs(regret(A, value, star, play))


def absolute_pseudo_regret(A, value, star, play):
    return sum(abs(value - mean_of(A, x, y)) for x, y, _, _, _ in play)


def kl(A, value, star, play):
    x, y, _, _, _ = play[-1]
    total = 0.0
    for policy, equilibrium in ((x, star[0]), (y, star[1])):
        for p, q in zip(policy, equilibrium, strict=True):
            if p > 0:
                total += p * math.log(p / q) if q > 0 else math.inf
    return total


def tv(A, value, star, play):
    x, y, _, _, _ = play[-1]
    return sum(
        max(p - q, 0.0)
        for policy, equilibrium in ((x, star[0]), (y, star[1]))
        for p, q in zip(policy, equilibrium, strict=True)
    )


def gap(A, x, y):
    m, n = len(A), len(A[0])
    best_row = max(mean_of(A, unit(i, m), y) for i in range(m))
    best_column = min(mean_of(A, x, unit(j, n)) for j in range(n))
    return best_row - best_column


def exploitability(A, value, star, play):
    return gap(A, *play[-1][:2])


def average_exploitability(A, value, star, play):
    x = [sum(round_[0][i] for round_ in play) / len(play) for i in range(len(A))]
    y = [sum(round_[1][j] for round_ in play) / len(play) for j in range(len(A[0]))]
    return gap(A, x, y)


# Of games of any number of players: payoffs are nested lists per player, a round of play is (policies, actions,
# rewards), and `seat` is the player that a metric is about.


def at(payoff, actions):
    for action in actions:
        payoff = payoff[action]
    return payoff


def mean_payoff(payoff, policies):
    joint = itertools.product(*(range(len(policy)) for policy in policies))
    return sum(at(payoff, a) * math.prod(p[i] for p, i in zip(policies, a, strict=True)) for a in joint)


def replaced(items, seat, item):
    return [*items[:seat], item, *items[seat + 1 :]]


def nash_conv_of(payoffs, seat, play):
    policies, _, _ = play[-1]
    total = 0.0
    for k, payoff in enumerate(payoffs):
        m = len(policies[k])
        best = max(mean_payoff(payoff, replaced(policies, k, unit(i, m))) for i in range(m))
        total += best - mean_payoff(payoff, policies)
    return total


def external_regret_of(payoffs, seat, play):
    m = len(play[0][0][seat])
    return max(deviation_gain(payoffs, seat, play, [i] * m) for i in range(m))


def swap_regret_of(payoffs, seat, play):
    """The best of all maps from actions to actions, one after the other."""
    m = len(play[0][0][seat])
    return max(deviation_gain(payoffs, seat, play, swap) for swap in itertools.product(range(m), repeat=m))


def deviation_gain(payoffs, seat, play, swap):
    payoff = payoffs[seat]
    return sum(at(payoff, replaced(a, seat, swap[a[seat]])) - at(payoff, a) for _, a, _ in play)


def payoff_of(payoffs, seat, play):
    return sum(mean_payoff(payoffs[seat], policies) for policies, _, _ in play) / len(play)


def welfare_of(payoffs, seat, play):
    return sum(at(payoff, actions) for _, actions, _ in play for payoff in payoffs) / len(play)


def welfare_ratio_of(payoffs, seat, play):
    joint = itertools.product(*(range(len(policy)) for policy in play[0][0]))
    return welfare_of(payoffs, seat, play) / max(sum(at(payoff, a) for payoff in payoffs) for a in joint)


OF_TENSORS = {
    twin.__name__.removesuffix("_of"): twin
    for twin in (nash_conv_of, external_regret_of, swap_regret_of, payoff_of, welfare_of, welfare_ratio_of)
}


def as_tensors(twin, seat=0):
    """Return the twin of a zero-sum game, whose column player earns -A."""

    def of_matrix(A, value, star, play):
        rounds = [((x, y), (a, b), (r, -r)) for x, y, a, b, r in play]
        return twin([A, [[-entry for entry in row] for row in A]], seat, rounds)

    return of_matrix


TWINS = {
    "column_external_regret": as_tensors(external_regret_of, seat=1),
    **{name: as_tensors(twin) for name, twin in OF_TENSORS.items() if "welfare" not in name},  # welfare: not zero-sum
} | {
    twin.__name__: twin
    for twin in (
        regret,
        pseudo_regret,
        absolute_regret,
        regret_magnitude,
        absolute_pseudo_regret,
        kl,
        tv,
        exploitability,
        average_exploitability,
    )
}


# Of games of genomes: A is the matrix of all genomes, and policies are marginals, p and q, of one round.


def atoms(policy):
    """The probability of each genome, in the order of the numbers that they write."""
    chances = []
    for genome in itertools.product((0, 1), repeat=len(policy)):
        chances.append(math.prod(p if bit else 1 - p for p, bit in zip(policy, genome, strict=True)))
    return chances


def exploitability_at_least(A, value, p, q):
    return gap(A, atoms(p), atoms(q))  # where a search gene by gene finds the best response


def mode_exploitability(A, value, p, q):
    return gap(A, *(atoms([float(gene > 0.5) for gene in policy]) for policy in (p, q)))


def disengaged(A, value, p, q):
    x, y = atoms(p), atoms(q)
    mean = sum(x[i] * A[i][j] * y[j] for i in range(len(x)) for j in range(len(y)))
    ends = min(map(min, A)), max(map(max, A))
    near = 0.01 * (ends[1] - ends[0])
    return float(any(abs(mean - end) <= near < abs(value - end) for end in ends))


def entropy(A, value, p, q):
    bits = [-g * math.log2(g) - (1 - g) * math.log2(1 - g) if 0 < g < 1 else 0.0 for g in [*p, *q]]
    return sum(bits) / len(bits)


OF_GENOMES = {twin.__name__: twin for twin in (exploitability_at_least, mode_exploitability, disengaged, entropy)}
