"""tf.contrib.training: batches of some of the examples that come, chosen at random."""

from weir.core import dtypes
from weir.core.graph import Tensor, convert_n_to_tensor, convert_to_tensor, name_scope
from weir.core.variable_scope import variable_scope
from weir.core.variables import Variable
from weir.ops import array_ops, check_ops, math_ops, random_ops
from weir.ops.control_flow_ops import Assert, Print, cond, with_dependencies
from weir.train.input import batch, maybe_batch


def rejection_sample(tensors, accept_prob_fn, batch_size, queue_threads=1, enqueue_many=False, prebatch_capacity=16,
                     prebatch_threads=1, runtime_checks=False, name=None):
    """Batches of examples that are kept with the probability ``accept_prob_fn(example)``."""
    with variable_scope(name, "rejection_sample", tensors):
        tensor_list = convert_n_to_tensor(tensors)
        if enqueue_many:
            tensor_list = _one_by_one(_check_rows(tensor_list, tensor_list[0]), prebatch_threads, prebatch_capacity)
        probability = accept_prob_fn(tensor_list)
        if runtime_checks:
            probability = array_ops.identity(
                with_dependencies([check_ops.assert_less_equal(0.0, probability),
                                   check_ops.assert_less_equal(probability, 1.0)], probability),
                name="prob_with_checks")
        minibatch = maybe_batch(tensor_list, random_ops.random_uniform([]) < probability, batch_size, queue_threads)
        return [minibatch] if isinstance(minibatch, Tensor) else minibatch


def _one_by_one(tensor_list, threads, capacity):
    """The rows of batches."""
    rows = batch(tensor_list, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True)
    return [array_ops.squeeze(row, [0]) for row in (rows if isinstance(rows, (list, tuple)) else [rows])]


def _check_rows(tensor_list, labels):
    for tensor in tensor_list:
        tensor.get_shape().with_rank_at_least(1)[0].assert_is_compatible_with(labels.get_shape()[0])
    return tensor_list


def stratified_sample(tensors, labels, target_probs, batch_size, init_probs=None, enqueue_many=False,
                      queue_capacity=16, threads_per_queue=1, name=None):
    """(batch, labels) in which classes are as frequent as ``target_probs`` says, by leaving examples out."""
    with name_scope(name, "stratified_sample", list(tensors) + [labels]):
        tensor_list = convert_n_to_tensor(tensors)
        labels = convert_to_tensor(labels)
        target_probs = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            tensor_list = [array_ops.expand_dims(tensor, 0) for tensor in tensor_list]
            labels = array_ops.expand_dims(labels, 0)
        if init_probs is None:
            target_probs.get_shape().assert_is_fully_defined()
            init_probs = _estimate_data_distribution(labels, target_probs.get_shape().num_elements())
        else:
            init_probs = convert_to_tensor(init_probs, dtype=dtypes.float32)
        tensor_list, labels, (init_probs, target_probs) = _verify_input(tensor_list, labels, [init_probs, target_probs])
        possible = math_ops.reduce_all(math_ops.logical_or(math_ops.not_equal(init_probs, 0),
                                                           math_ops.equal(target_probs, 0)))
        check = Assert(possible, ["All classes with zero initial probability must also have zero target probability: ",
                                  init_probs, target_probs])
        init_probs = with_dependencies([check], init_probs)
        accept = _calculate_acceptance_probabilities(init_probs, target_probs)
        rejected = math_ops.reduce_sum((1 - accept) * init_probs)
        accept = cond(math_ops.less(rejected, .5), lambda: accept,
                      lambda: Print(accept, [accept], message="Proportion of examples rejected by sampler is high.",
                                    first_n=10))
        *values, label = _one_by_one(tensor_list + [labels], threads_per_queue, queue_capacity)
        probability = array_ops.gather(accept, label)
        batched = maybe_batch(values + [label], random_ops.random_uniform([]) < probability, batch_size,
                              threads_per_queue)
        return batched[:-1], batched[-1]


def _estimate_data_distribution(labels, num_classes, smoothing_constant=10):
    """How frequent the classes were so far."""
    if smoothing_constant <= 0:
        raise ValueError("smoothing_constant must be nonzero.")
    seen = Variable([smoothing_constant] * num_classes, trainable=False, name="class_count", dtype=dtypes.int64)
    seen = seen.assign_add(math_ops.reduce_sum(array_ops.one_hot(labels, num_classes, dtype=dtypes.int64), 0))
    seen += 0
    return math_ops.cast(math_ops.truediv(seen, math_ops.reduce_sum(seen)), dtypes.float32)


def _verify_input(tensor_list, labels, probs_list):
    """The arguments behind the checks that only a run can do; what the graph tells is checked here."""
    checked = []
    for probs in probs_list:
        probs.get_shape().assert_is_fully_defined()
        probs.get_shape().assert_has_rank(1)
        total = math_ops.reduce_sum(probs)
        checked.append(with_dependencies([check_ops.assert_non_negative(probs),
                                          check_ops.assert_less(total, 1.0 + 1e-6),
                                          check_ops.assert_less(1.0 - 1e-6, total)], probs))
    classes = checked[0].get_shape().num_elements()
    if any(probs.get_shape().num_elements() != classes for probs in checked):
        raise ValueError("Probability parameters must have the same length.")
    labels.get_shape().assert_has_rank(1)
    _check_rows(tensor_list, labels)
    rows = array_ops.shape(labels)[0]
    some = check_ops.assert_positive(rows)
    labels = with_dependencies([some], labels)
    tensor_list = [with_dependencies([some, check_ops.assert_equal(array_ops.shape(x)[0], rows)], x)
                   for x in tensor_list]
    labels = with_dependencies([check_ops.assert_integer(labels), check_ops.assert_non_negative(labels),
                                check_ops.assert_less(labels, math_ops.cast(classes, labels.dtype))], labels)
    return tensor_list, labels, checked


def _calculate_acceptance_probabilities(init_probs, target_probs):
    ratio = target_probs / init_probs
    ratio = array_ops.where(math_ops.is_nan(ratio), array_ops.zeros_like(ratio), ratio)
    return ratio / math_ops.reduce_max(ratio)
