"""Beam search: the likeliest sequences, and not the likeliest class of every step."""

import collections
import math

from weir import _weir, logging, nest
from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, math_ops
from weir.ops.control_flow_ops import cond
from weir.ops.tensor_array_ops import TensorArray
from weir.rnn.cells import assert_like_rnncell
from weir.seq2seq.attention import AttentionWrapperState
from weir.seq2seq.decoders import Decoder, _layer_output_size, _require_layer
from weir.seq2seq.helpers import _embedding_function


class BeamSearchDecoderState(collections.namedtuple("BeamSearchDecoderState", (
        "cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"))):
    """The state of a beam search; all but lists are [batch, beam, ...]."""


class BeamSearchDecoderOutput(collections.namedtuple("BeamSearchDecoderOutput", (
        "scores", "predicted_ids", "parent_ids"))):
    """The words of a step, and of which beams they are the continuation."""


class FinalBeamSearchDecoderOutput(collections.namedtuple("FinalBeamDecoderOutput", (
        "predicted_ids", "beam_search_decoder_output"))):
    """The sequences, likeliest first along the last dimension, and what the steps gave."""


def tile_batch(t, multiplier, name=None):
    """Every row of every tensor ``multiplier`` times, one after the other."""
    flat = nest.flatten(t)
    with name_scope(name, "tile_batch", flat):
        return nest.map_structure(lambda part: _weir.tile_batch(_graph(), convert_to_tensor(part, name="t"), multiplier), t)


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """Whole sequences from the steps of a beam search [time, batch, beam]."""
    return apply("GatherTree", (step_ids, parent_ids, max_sequence_lengths, end_token), {}, name)


def gather_tree_from_array(t, parent_ids, sequence_length):
    """What was written along a search, in the order of the sequences that came out."""
    return _weir.gather_tree_from_array(_graph(), t, parent_ids, sequence_length)


def attention_probs_from_attn_state(attention_state):
    """The weights of an attention, of several their mean."""
    probs = attention_state.alignments
    if isinstance(probs, tuple):
        probs = math_ops.reduce_mean(array_ops.concat([array_ops.expand_dims(each, -1) for each in probs], -1), -1)
    return probs


def get_attention_probs(next_cell_state, coverage_penalty_weight):
    """What a coverage penalty counts, or None without one."""
    if coverage_penalty_weight == 0.0:
        return None
    states = [next_cell_state] if isinstance(next_cell_state, AttentionWrapperState) else (
        next_cell_state if isinstance(next_cell_state, tuple) else ())
    found = [attention_probs_from_attn_state(state) for state in states if isinstance(state, AttentionWrapperState)]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    if len(found) == 1:
        return found[0]
    return math_ops.reduce_mean(array_ops.concat([array_ops.expand_dims(each, -1) for each in found], -1), -1)


def _known_rank(tensor):
    if tensor.shape.ndims is None:
        raise ValueError(f"Expected tensor ({tensor}) to have known rank, but ndims == None.")
    return tensor.shape.ndims


class BeamSearchDecoder(Decoder):
    """Keeps the ``beam_width`` likeliest sequences. The initial state is one of ``tile_batch``."""

    def __init__(self, cell, embedding, start_tokens, end_token, initial_state, beam_width, output_layer=None,
                 length_penalty_weight=0.0, coverage_penalty_weight=0.0, reorder_tensor_arrays=True):
        assert_like_rnncell("cell", cell)
        _require_layer(output_layer)
        self._cell, self._output_layer, self._beam_width = cell, output_layer, beam_width
        self._length_penalty_weight, self._coverage_penalty_weight = length_penalty_weight, coverage_penalty_weight
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._embedding_fn = _embedding_function(embedding)
        start_tokens = convert_to_tensor(start_tokens, dtype="int32", name="start_tokens")
        if start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype="int32", name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array_ops.size(start_tokens)
        self._static_batch_size = start_tokens.shape.as_list()[0]
        self._initial_cell_state = nest.map_structure(self._maybe_split, initial_state)
        self._start_tokens = array_ops.tile(array_ops.expand_dims(start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = self._first_beam(False, True, dtypes.bool)

    batch_size = property(lambda self: self._batch_size)
    tracks_own_finished = property(lambda self: True)

    def _first_beam(self, on, off, dtype):
        """All beams begin alike: only the first counts at the beginning."""
        zeros = array_ops.zeros(array_ops.reshape(self._batch_size, [1]), dtype="int32")
        return array_ops.one_hot(zeros, depth=self._beam_width, on_value=on, off_value=off, dtype=dtype)

    def _rnn_output_size(self):
        return _layer_output_size(self._cell, self._output_layer)

    @property
    def output_size(self):
        size = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=size, predicted_ids=size, parent_ids=size)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(scores=nest.map_structure(lambda _: dtype, self._rnn_output_size()),
                                       predicted_ids=dtypes.int32, parent_ids=dtypes.int32)

    # Tensors of a cell are [batch * beam, ...], those of the search [batch, beam, ...]. Scalars and lists stay.

    def _maybe_split(self, x):
        if isinstance(x, TensorArray) or _known_rank(x) < 1:
            return x
        shape = array_ops.concat([array_ops.stack([self._batch_size, self._beam_width]), array_ops.shape(x)[1:]], 0)
        result = array_ops.reshape(x, shape)
        expected = TensorShape([self._static_batch_size, self._beam_width]).concatenate(x.shape[1:])
        if x.shape.as_list()[0] is not None and self._static_batch_size is not None and (
                x.shape.as_list()[0] != self._static_batch_size * self._beam_width):
            raise ValueError("Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor "
                             f"has shape: {x.shape}.  We expected it to have shape (batch_size, beam_width, depth) == "
                             f"{expected}.  Perhaps you forgot to create a zero_state with "
                             "batch_size=encoder_batch_size * beam_width?")
        result.set_shape(expected)
        return result

    def _maybe_merge(self, x):
        if isinstance(x, TensorArray) or _known_rank(x) < 2:
            return x
        rows = array_ops.reshape(self._batch_size * self._beam_width, [1])
        result = array_ops.reshape(x, array_ops.concat([rows, array_ops.shape(x)[2:]], 0))
        known = None if self._static_batch_size is None else self._static_batch_size * self._beam_width
        result.set_shape(TensorShape([known]).concatenate(x.shape[2:]))
        return result

    def initialize(self, name=None):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        attention = get_attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        shape = array_ops.stack([self._batch_size, self._beam_width])
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state, log_probs=self._first_beam(0.0, -math.inf, dtype),
            finished=self._finished, lengths=array_ops.zeros(shape, dtype="int64"),
            accumulated_attention_probs=() if attention is None else attention)
        return self._finished, self._start_inputs, state

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BeamSearchDecoderStep", [time] + nest.flatten(inputs)):
            cell_state = nest.map_structure(self._maybe_merge, state.cell_state)
            outputs, next_cell_state = self._cell(nest.map_structure(self._maybe_merge, inputs), cell_state)
            outputs = nest.map_structure(self._maybe_split, outputs)
            next_cell_state = nest.map_structure(self._maybe_split, next_cell_state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            attention = get_attention_probs(next_cell_state, self._coverage_penalty_weight)
            seen = None if attention is None else state.accumulated_attention_probs
            output, (log_probs, finished, lengths, seen) = _weir.beam_search_step(
                _graph(), outputs, (state.log_probs, state.finished, state.lengths, seen), self._end_token,
                self._length_penalty_weight, self._coverage_penalty_weight, attention)
            output = BeamSearchDecoderOutput(*output)
            next_cell_state = nest.map_structure(lambda part: self._of_parents(part, output.parent_ids),
                                                 next_cell_state)
            next_state = BeamSearchDecoderState(
                cell_state=next_cell_state, log_probs=log_probs, finished=finished, lengths=lengths,
                accumulated_attention_probs=() if seen is None else seen)
            next_inputs = cond(math_ops.reduce_all(finished), lambda: self._start_inputs,
                               lambda: self._embedding_fn(output.predicted_ids))
        return output, next_state, next_inputs, finished

    @staticmethod
    def _of_parents(x, parents):
        return x if isinstance(x, TensorArray) or _known_rank(x) < 2 else _weir.gather_beams(_graph(), x, parents)

    def finalize(self, outputs, final_state, sequence_lengths):
        longest = math_ops.cast(math_ops.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        predicted_ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            final_state = final_state._replace(cell_state=nest.map_structure(
                lambda part: self._sorted(part, outputs.parent_ids, final_state.lengths), final_state.cell_state))
        return FinalBeamSearchDecoderOutput(beam_search_decoder_output=outputs, predicted_ids=predicted_ids), final_state

    def _sorted(self, array, parent_ids, lengths):
        """A TensorArray of the cell's state as a tensor in the order of the sequences."""
        if not isinstance(array, TensorArray):
            return array
        shape = array.element_shape
        if shape.ndims is None or shape.ndims < 1:
            logging.warn("The TensorArray %s in the cell state is not amenable to sorting based on the beam search "
                         "result. For a TensorArray to be sorted, its elements shape must be defined and have at least "
                         "a rank of 1, but saw shape: %s", array.handle.name, shape)
            return array
        return gather_tree_from_array(array.stack(), parent_ids, lengths)
