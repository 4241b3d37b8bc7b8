"""results/gene-lr from the folder of the pre-registered test of gene-lr.

Run in the root of a checkout: python -m tools.gene_lr DIR, after `coebl tournament --suite gene-lr --out DIR`.
"""

import sys
from pathlib import Path

from tools.kin import publish

RESULTS = Path("results", "gene-lr")

if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(), "gene-lr", RESULTS)
