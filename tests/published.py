"""The published verdicts on the paper's claims, as objects."""

import json
from pathlib import Path

from coebl.evidence.judge import CheckResult, Reported, Verdict

CLAIMS = Path(__file__).parents[1] / "results" / "ijcai2025" / "claims.json"


def read_verdicts():
    return [
        Verdict(
            **values
            | {
                "checks": [
                    CheckResult(**{key: value for key, value in check.items() if key != "verdict"})
                    for check in values["checks"]
                ],
                "reported": [Reported(**reported) for reported in values["reported"]],
            }
        )
        for values in json.loads(CLAIMS.read_text())
    ]
