"""What pipelines tell of themselves while they run."""

from weir.core.op_functions import apply


class StatsAggregator:
    """Histograms of what the pipelines measure whose ``Options.experimental_stats.aggregator`` this is."""

    def __init__(self):
        self._resource = apply("StatsAggregatorHandle", (), {}, None)

    def get_summary(self):
        """A serialised Summary of everything since the beginning, for ``FileWriter.add_summary`` or a collection."""
        return apply("StatsAggregatorSummary", (self._resource,), {}, None)


def latency_stats(tag):
    """Measures how many microseconds each element takes."""
    return lambda dataset: dataset._unary("LatencyStatsDataset", [tag])


def bytes_produced_stats(tag):
    """Measures how many bytes each element has."""
    return lambda dataset: dataset._unary("BytesProducedStatsDataset", [tag])
