"""tf.contrib.crf: linear-chain conditional random fields."""

from weir import _weir as _core, names as _names
from weir.core import dtypes as _dtypes
from weir.core.graph import convert_to_tensor as _convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.variable_scope import get_variable as _get_variable
from weir.ops import array_ops as _array_ops, math_ops as _math_ops
from weir.rnn.cells import RNNCell as _RNNCell


def _lengths_to_masks(lengths, max_length):
    """Ones up to the lengths, zeros behind them; programs import it."""
    return _array_ops.sequence_mask(lengths, max_length, dtype="float32")


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The scores of sequences of tags [batch, time]."""
    return _core.crf_sequence_score(_graph(), inputs, tag_indices, sequence_lengths, transition_params)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """log(sum(exp(score))) over the sequences that a bitmap [batch, time, tags] allows."""
    return _core.crf_multitag_sequence_score(_graph(), inputs, tag_bitmap, sequence_lengths, transition_params)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """log(sum(exp(score))) over all sequences."""
    return _core.crf_log_norm(_graph(), inputs, sequence_lengths, transition_params)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """The log probability of the tags, and the transitions: those given, or a variable that is made."""
    if transition_params is None:
        tags = inputs.shape.as_list()[2]
        transition_params = _get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The part of the score that is that of single tags."""
    return _core.crf_unary_score(_graph(), tag_indices, sequence_lengths, inputs)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The part of the score that is that of neighbours."""
    return _core.crf_binary_score(_graph(), tag_indices, sequence_lengths, transition_params)


def crf_decode(potentials, transition_params, sequence_length):
    """The best tags [batch, time] and their scores."""
    return _core.crf_decode(_graph(), potentials, transition_params, sequence_length)


def viterbi_decode(score, transition_params):
    """The best tags of one sequence, scores [time, tags] as a numpy array, and their score."""
    np = _dtypes._numpy()
    trellis, pointers = np.zeros_like(score), np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for t in range(1, score.shape[0]):
        ways = np.expand_dims(trellis[t - 1], 1) + transition_params
        trellis[t], pointers[t] = score[t] + np.max(ways, 0), np.argmax(ways, 0)
    best = [np.argmax(trellis[-1])]
    for pointer in reversed(pointers[1:]):
        best.append(pointer[best[-1]])
    return best[::-1], np.max(trellis[-1])


class _CrfCell(_RNNCell):
    def __init__(self, transition_params):
        super().__init__()
        self._transition_params = _array_ops.expand_dims(transition_params, 0)
        self._num_tags = _convert_to_tensor(transition_params).shape.as_list()[0]

    state_size = property(lambda self: self._num_tags)
    output_size = property(lambda self: self._num_tags)


class CrfForwardRnnCell(_CrfCell):
    """The recursion of ``crf_log_norm``."""

    def __call__(self, inputs, state, scope=None):
        alphas = inputs + _math_ops.reduce_logsumexp(_array_ops.expand_dims(state, 2) + self._transition_params, [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_CrfCell):
    """The first recursion of ``crf_decode``: where the best way to each tag comes from, and its score."""

    def __call__(self, inputs, state, scope=None):
        scores = _array_ops.expand_dims(state, 2) + self._transition_params
        return (_math_ops.cast(_math_ops.argmax(scores, 1), "int32"), inputs + _math_ops.reduce_max(scores, [1]))


class CrfDecodeBackwardRnnCell(_RNNCell):
    """The second: the tag before, from where the way came."""

    def __init__(self, num_tags):
        super().__init__()
        self._num_tags = num_tags

    state_size = property(lambda self: 1)
    output_size = property(lambda self: 1)

    def __call__(self, inputs, state, scope=None):
        rows = _math_ops.range(_array_ops.shape(inputs)[0])
        places = _array_ops.stack([rows, _array_ops.squeeze(state, axis=[1])], axis=1)
        tags = _array_ops.expand_dims(_array_ops.gather_nd(inputs, places), axis=-1)
        return tags, tags


__getattr__, __dir__ = _names.namespace(__name__)
