"""What losses and metrics do to labels and predictions first: a last dimension of one is dropped or added."""

from weir.core.graph import convert_to_tensor, name_scope
from weir.ops import array_ops, math_ops


def without_last(tensor, longer):
    """The tensor without its last dimension where ``longer``, a scalar of the graph, says so."""
    rank = array_ops.rank(tensor)
    kept = array_ops.where(longer, rank - 1, rank)
    return array_ops.reshape(tensor, array_ops.slice(array_ops.shape(tensor), [0], [kept]))


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """(labels, predictions): that with one dimension more than expected loses its last, which must be of size one."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        label_rank, prediction_rank = labels.shape.ndims, predictions.shape.ndims
        if label_rank is not None and prediction_rank is not None:
            difference = prediction_rank - label_rank
            if difference == expected_rank_diff + 1:
                predictions = array_ops.squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1:
                labels = array_ops.squeeze(labels, [-1])
            return labels, predictions
        difference = array_ops.rank(predictions) - array_ops.rank(labels)
        may_squeeze = lambda tensor: tensor.shape.ndims is None or tensor.shape.as_list()[-1:] in ([1], [None])
        squeezed_predictions, squeezed_labels = predictions, labels
        if may_squeeze(predictions):
            squeezed_predictions = without_last(predictions, math_ops.equal(difference, expected_rank_diff + 1))
        if may_squeeze(labels):
            squeezed_labels = without_last(labels, math_ops.equal(difference, expected_rank_diff - 1))
        return squeezed_labels, squeezed_predictions
