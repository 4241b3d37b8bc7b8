"""results/SUITE from the folder of a pre-registered test, with the commit that registered the test.

Run in the root of a checkout: python -m tools.trial SUITE DIR, after `coebl tournament --suite SUITE --out DIR`. The
test of Kin has a page too: tools/kin.py.
"""

import sys
from pathlib import Path

from coebl.core.errors import InputError
from tools.kin import publish

if __name__ == "__main__":
    try:
        suite, folder = sys.argv[1:]
        publish(Path(folder), Path(), suite, Path("results", suite))
    except InputError as error:
        sys.exit(str(error))
    except ValueError:
        sys.exit("two arguments are needed: the name of the suite, and the folder of its run")
