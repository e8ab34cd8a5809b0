"""What writes sequences step by step, and the loop that runs it."""

import abc
import collections

from weir import _weir, nest
from weir.core import dtypes, tensor_util
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.core.variable_scope import variable_scope
from weir.layers.base import Layer
from weir.rnn.cells import assert_like_rnncell, zeros_of_size
from weir.rnn.rnn import _flows, _like, transpose_batch_time
from weir.seq2seq.helpers import Helper


class Decoder(abc.ABC):
    """One's own gives these; ``finalize(outputs, final_state, sequence_lengths)`` may make something else of both."""

    @property
    def batch_size(self):
        raise NotImplementedError

    @property
    def output_size(self):
        raise NotImplementedError

    @property
    def output_dtype(self):
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs, first state)."""

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """(outputs, next state, next inputs, finished)."""

    def finalize(self, outputs, final_state, sequence_lengths):
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        return False


def _layer_output_size(cell, output_layer):
    """The size of what comes out of a cell and the layer behind it."""
    size = cell.output_size
    if output_layer is None:
        return size
    shapes = nest.map_structure(lambda each: TensorShape([None]).concatenate(TensorShape(each)), size)
    return nest.map_structure(lambda each: each[1:], output_layer.compute_output_shape(shapes))


def _require_layer(output_layer):
    if output_layer is not None and not isinstance(output_layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")


def dynamic_decode(decoder, output_time_major=False, impute_finished=False, maximum_iterations=None,
                   parallel_iterations=32, swap_memory=False, scope=None, **kwargs):
    """Runs a decoder until all sequences have ended: (outputs, last state, lengths).

    ``impute_finished``: sequences that have ended give zeros and keep their state.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtype="int32", name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, first_inputs, first_state = decoder.initialize()
        first_inputs, first_state = _as_tensors(first_inputs), _as_tensors(first_state)
        sizes, types, batch_size = decoder.output_size, decoder.output_dtype, decoder.batch_size
        flat_sizes = nest.flatten(sizes)
        zeros = [zeros_of_size(batch_size, size, dtype) for size, dtype in zip(flat_sizes, nest.flatten(types))]

        def step(time, inputs, state):
            state = _like(first_state, state)
            inputs = nest.pack_sequence_as(first_inputs, inputs)
            outputs, next_state, next_inputs, ended = decoder.step(time, inputs, state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(sizes, outputs)
            nest.assert_same_structure(inputs, next_inputs)
            return nest.flatten(outputs), _flows(next_state), nest.flatten(next_inputs), ended

        outputs, state, lengths = _weir.decode_loop(
            _graph(), step, finished, nest.flatten(first_inputs), _flows(first_state), zeros,
            [dtypes.as_dtype(each) for each in nest.flatten(types)],
            [_element_shape(batch_size, size) for size in flat_sizes], decoder.tracks_own_finished, impute_finished,
            maximum_iterations, parallel_iterations)
        outputs, state = nest.pack_sequence_as(sizes, outputs), _like(first_state, state)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _as_tensors(structure):
    return nest.map_structure(lambda part: part if hasattr(part, "flow") else convert_to_tensor(part), structure)


def _element_shape(batch_size, size):
    if not isinstance(size, TensorShape) or size.ndims == 0:
        return TensorShape(None)
    known = tensor_util.constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
    return TensorShape([None if known is None else int(known)]).concatenate(size)


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What a BasicDecoder gives."""


class BasicDecoder(Decoder):
    """Runs a cell on the inputs of a helper."""

    def __init__(self, cell, helper, initial_state, output_layer=None):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        _require_layer(output_layer)
        self._cell, self._helper, self._initial_state, self._output_layer = cell, helper, initial_state, output_layer

    batch_size = property(lambda self: self._helper.batch_size)

    def _rnn_output_size(self):
        return _layer_output_size(self._cell, self._output_layer)

    @property
    def output_size(self):
        return BasicDecoderOutput(rnn_output=self._rnn_output_size(), sample_id=self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, self._rnn_output_size()),
                                  self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        return tuple(self._helper.initialize()) + (self._initial_state,)

    def step(self, time, inputs, state, name=None):
        with name_scope(name, "BasicDecoderStep", [time] + nest.flatten(inputs)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state,
                                                                    sample_ids=sample_ids)
        return BasicDecoderOutput(outputs, sample_ids), state, next_inputs, finished
