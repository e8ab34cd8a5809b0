"""Connectionist temporal classification: the loss of speech and handwriting, and its decoders."""

from weir import nest
from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.ops import array_ops, math_ops
from weir.ops.functional_ops import map_fn
from weir.ops.sparse_ops import SparseTensor


def ctc_loss(labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True, logits=None):
    """The negative log probabilities of sparse labels [batch, length]; the last class is the blank.

    Releases before 1.0 gave the inputs first.
    """
    if isinstance(inputs, SparseTensor) and not isinstance(labels, SparseTensor):
        labels, inputs = inputs, labels
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    if inputs is not None and logits is not None:
        raise ValueError("Cannot specify both 'inputs' and 'logits'")
    inputs = logits if inputs is None else inputs
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    loss, _ = apply("CTCLoss", (inputs, labels.indices, labels.values, sequence_length),
                    {"preprocess_collapse_repeated": preprocess_collapse_repeated,
                     "ctc_merge_repeated": ctc_merge_repeated,
                     "ignore_longer_outputs_than_inputs": ignore_longer_outputs_than_inputs}, None)
    return loss


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """The best class of every step, without blanks and repetitions: ([sparse labels], minus the sums of logits)."""
    indices, values, shape, log_probabilities = apply("CTCGreedyDecoder", (inputs, sequence_length),
                                                      {"merge_repeated": merge_repeated}, None)
    return [SparseTensor(indices, values, shape)], log_probabilities


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """The likeliest labels: (list of sparse labels, log probabilities [batch, top_paths])."""
    *parts, log_probabilities = nest.flatten(apply(
        "CTCBeamSearchDecoder", (inputs, sequence_length),
        {"beam_width": beam_width, "top_paths": top_paths, "merge_repeated": merge_repeated}, None))
    columns = [parts[i * top_paths:(i + 1) * top_paths] for i in range(3)]
    return [SparseTensor(*path) for path in zip(*columns)], log_probabilities


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """The same, in which labels may repeat."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def _size(tensor, axis):
    return tensor.shape.as_list()[axis] or array_ops.shape(tensor)[axis]


def _blank_last(logits, blank_index):
    """The logits with the blank as their last class."""
    classes = _size(logits, 2)
    if blank_index < 0:
        blank_index += classes
    if isinstance(classes, int) and blank_index == classes - 1:
        return logits, blank_index
    return array_ops.concat([logits[:, :, :blank_index], logits[:, :, blank_index + 1:],
                             logits[:, :, blank_index:blank_index + 1]], axis=2), blank_index


def ctc_loss_v2(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
                name=None):
    """The loss for sparse labels, or for dense ones [batch, length] of which ``label_length`` count.

    ``unique`` makes TensorFlow's dense loss quicker; here both are one operation.
    """
    with name_scope(name, "ctc_loss_dense"):
        if isinstance(labels, SparseTensor):
            if blank_index is None:
                raise ValueError("blank_index must be given when using SparseTensor labels.")
        else:
            labels = dense_labels_to_sparse(convert_to_tensor(labels, name="labels"),
                                            convert_to_tensor(label_length, name="label_length"))
        logits = convert_to_tensor(logits, name="logits")
        logits, blank = _blank_last(logits, 0 if blank_index is None else blank_index)
        values = labels.values - math_ops.cast(labels.values > math_ops.cast(blank, labels.values.dtype),
                                               labels.values.dtype)
        return ctc_loss(SparseTensor(labels.indices, values, labels.dense_shape), inputs=logits,
                        sequence_length=logit_length, time_major=logits_time_major)


def dense_labels_to_sparse(dense, length):
    """Labels [batch, length] as a sparse tensor of those that count."""
    mask = array_ops.sequence_mask(length, maxlen=array_ops.shape(dense)[1])
    indices = array_ops.where(mask)
    values = math_ops.cast(array_ops.boolean_mask(dense, mask), dtypes.int32)
    shape = array_ops.stack([array_ops.shape(dense, out_type=dtypes.int64)[0],
                             math_ops.cast(math_ops.reduce_max(length), dtypes.int64)])
    return SparseTensor(indices, values, shape)


def collapse_repeated(labels, seq_length, name=None):
    """Labels without repetitions, and how many are left."""
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        counts = array_ops.concat([array_ops.ones_like(labels[:, :1], dtypes.bool),
                                   math_ops.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        counts = math_ops.logical_and(counts, array_ops.sequence_mask(seq_length, maxlen=_size(labels, 1)))
        lengths = math_ops.reduce_sum(math_ops.cast(counts, dtypes.int32), axis=1)
        longest = math_ops.reduce_max(lengths)
        places = array_ops.where(array_ops.sequence_mask(lengths, maxlen=longest))
        shape = array_ops.stack([math_ops.cast(_size(labels, 0), dtypes.int64), math_ops.cast(longest, dtypes.int64)])
        kept = array_ops.scatter_nd(places, array_ops.boolean_mask(labels, counts), shape)
        return kept, math_ops.cast(lengths, seq_length.dtype)


def ctc_unique_labels(labels, name=None):
    """For each row its different labels, padded with zeros, and where each label stands among them."""
    with name_scope(name, "ctc_unique_labels", [labels]):

        def unique(row):
            found = array_ops.unique(row)
            missing = array_ops.size(found.idx) - array_ops.size(found.y)
            padded = array_ops.pad(found.y, array_ops.reshape(array_ops.stack([0, missing]), [1, 2]))
            return [math_ops.cast(padded, dtypes.int64), found.idx]

        return map_fn(unique, convert_to_tensor(labels, name="labels"), dtype=[dtypes.int64, dtypes.int32])
