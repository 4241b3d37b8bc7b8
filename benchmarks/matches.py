"""The paper's experiments, as several benchmarks play them."""

PAPER_GAMES = [*(f"diagonal:n={n}" for n in range(2, 8)), *(f"bigger-number:n={n}" for n in range(2, 8)), "rps"]
MATCH_UPS = [
    ("coebl", "coebl"),
    ("ucb", "ucb"),
    ("exp3", "exp3"),
    ("exp3-ix", "exp3-ix"),
    ("exp3", "coebl"),
    ("exp3-ix", "coebl"),
    ("ucb", "coebl"),
]
