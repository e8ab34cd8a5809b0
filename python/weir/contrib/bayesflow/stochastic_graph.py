"""The loss of a graph with stochastic tensors: tf.contrib.bayesflow.stochastic_graph."""

import weir as tf
from weir.contrib.bayesflow.stochastic_tensor import STOCHASTIC_TENSOR_COLLECTION


def _stochastic_dependencies_map(fixed_losses, stochastic_tensors=None):
    """Which of the losses follow from each stochastic tensor: {stochastic tensor: {loss, ...}}."""
    candidates = {tensor.value(): tensor for tensor in
                  stochastic_tensors or tf.get_collection(STOCHASTIC_TENSOR_COLLECTION)}
    found = {}
    if not candidates:
        return found
    for loss in fixed_losses:
        seen, waiting = {loss}, [loss]
        while waiting:
            tensor = waiting.pop()
            if tensor in candidates:
                found.setdefault(candidates[tensor], set()).add(loss)
            news = [x for x in tensor.op.inputs if x not in seen]
            seen.update(news)
            waiting.extend(news)
    return found


def _upstream_stochastic_nodes(tensors):
    """The stochastic tensors that each tensor follows from: {tensor: {stochastic tensor, ...}}."""
    upstream = {tensor: set() for tensor in tensors}
    for stochastic, followers in _stochastic_dependencies_map(tensors).items():
        for tensor in followers:
            upstream[tensor].add(stochastic)
    return upstream


def surrogate_loss(sample_losses, stochastic_tensors=None, name="SurrogateLoss"):
    """The sum of the losses and of what the stochastic tensors before them add. Its gradient reaches the distributions'
    parameters; its value means nothing."""
    with tf.name_scope(name):
        if not isinstance(sample_losses, (list, tuple)):
            raise TypeError("sample_losses must be a list or tuple")
        for loss in sample_losses:
            if not isinstance(loss, tf.Tensor):
                raise TypeError(f"loss is not a Tensor: {loss}")
            if not loss.get_shape().ndims:
                raise ValueError(f"loss must have dimensionality 1 or greater: {loss}")
        followers = _stochastic_dependencies_map(sample_losses, stochastic_tensors)
        if not followers:
            tf.logging.warn("No collection of Stochastic Tensors found for current graph.")
            return tf.add_n(sample_losses)
        terms = list(sample_losses)
        for stochastic, influenced in followers.items():
            tf.logging.info("Losses influenced by StochasticTensor %s: [%s]", stochastic.name,
                            ", ".join(loss.name for loss in influenced))
            in_order = [loss for loss in sample_losses if loss in influenced]
            term = stochastic.loss(tf.stop_gradient(_total(in_order)))
            if term is not None:
                terms.append(term)
        return _total(terms)


def _total(terms):
    shape = terms[0].get_shape()
    if shape.is_fully_defined() and all(term.get_shape() == shape and term.dtype == terms[0].dtype for term in terms):
        return tf.add_n(terms)
    return sum(terms[1:], terms[0])
