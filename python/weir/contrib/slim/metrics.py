"""tf.contrib.slim.metrics: metrics by name."""

from weir import names as _names


def aggregate_metrics(*value_update_tuples):
    """(values, update operations) of metrics."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update operation}) of {name: metric}."""
    values, updates = zip(*names_to_tuples.values())
    return dict(zip(names_to_tuples, values)), dict(zip(names_to_tuples, updates))


__getattr__, __dir__ = _names.namespace(__name__)
