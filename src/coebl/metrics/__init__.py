"""Metrics: one number per round and run, from the row player's side unless a name ends in the number of a seat.

To add one, write a class in `coebl.metrics.measures`; `parse_metrics` also accepts the class itself, and
``path/to/file.py:Name``. A metric is made for one batch of runs and called with its consecutive blocks of rounds. Its
numbers must not depend, to the last bit, on how the rounds are cut into blocks, nor on the other runs of the batch. So
it sums over actions with `block.backend.einsum` or along the last axis (not with `@`, whose rounding depends on the
size of the batch), and over rounds with a `RunningSum`.

>>> METRICS["tv"].title
'TV distance'
"""

from coebl.metrics import measures  # registers the built-in metrics
from coebl.metrics.base import Block, Mean, Metric, Outcomes, RunningSum, Total
from coebl.metrics.registry import METRICS, all_metrics, metric_class, parse_metrics, registered_metric

__all__ = [
    "METRICS",
    "Block",
    "Mean",
    "Metric",
    "Outcomes",
    "RunningSum",
    "Total",
    "all_metrics",
    "measures",
    "metric_class",
    "parse_metrics",
    "registered_metric",
]
