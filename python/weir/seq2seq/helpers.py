"""Where the inputs of a decoder come from."""

import abc

from weir import _weir, nest
from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, math_ops, nn_ops
from weir.ops.control_flow_ops import cond
from weir.ops.tensor_array_ops import TensorArray
from weir.rnn.rnn import transpose_batch_time


def bernoulli_sample(probs=None, logits=None, dtype=dtypes.int32, sample_shape=(), seed=None):
    """Truth values of these probabilities, ``sample_shape`` times."""
    probs = math_ops.sigmoid(logits, name="probs") if probs is None else convert_to_tensor(probs, name="probs")
    return _weir.bernoulli_sample(_graph(), probs, dtypes.as_dtype(dtype), _sizes(sample_shape), seed)


def categorical_sample(logits, dtype=dtypes.int32, sample_shape=(), seed=None):
    """A class for each row of logits."""
    logits = convert_to_tensor(logits, name="logits")
    return _weir.categorical_sample(_graph(), logits, dtypes.as_dtype(dtype), _sizes(sample_shape), seed)


def _sizes(sample_shape):
    return None if isinstance(sample_shape, (list, tuple)) and not sample_shape else sample_shape


def _embedding_function(embedding):
    return embedding if callable(embedding) else lambda ids: nn_ops.embedding_lookup(embedding, ids)


def _steps(inputs):
    return TensorArray(inputs.dtype, flow=inputs)._filled_with_rows(inputs)


class Helper(abc.ABC):
    """One's own gives all of these."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The number of sequences, a scalar."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The shape of what ``sample`` gives, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """Its type."""

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs)."""

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """Classes for the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """(finished, next inputs, next state)."""


class CustomHelper(Helper):
    """A helper of three functions."""

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    sample_ids_shape = property(lambda self: self._sample_ids_shape)
    sample_ids_dtype = property(lambda self: self._sample_ids_dtype)

    def initialize(self, name=None):
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array_ops.size(finished)
        return finished, next_inputs

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, f"{type(self).__name__}Sample", nest.flatten((time, outputs))):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, f"{type(self).__name__}NextInputs", nest.flatten((time, outputs))):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(Helper):
    """The right inputs: [batch, time, ...], or [time, batch, ...]."""

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with name_scope(name, "TrainingHelper", nest.flatten((inputs, sequence_length))):
            inputs = nest.map_structure(lambda part: convert_to_tensor(part, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(_steps, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: "
                                 f"{self._sequence_length.shape}")
            self._zero_inputs = nest.map_structure(lambda part: array_ops.zeros_like(part[0, :]), inputs)
            self._batch_size = array_ops.size(self._sequence_length)

    inputs = property(lambda self: self._inputs)
    sequence_length = property(lambda self: self._sequence_length)
    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: TensorShape([]))
    sample_ids_dtype = property(lambda self: dtypes.int32)

    def _inputs_at(self, time, finished):
        # There is nothing to read when all sequences have ended.
        return cond(math_ops.reduce_all(finished), lambda: self._zero_inputs,
                    lambda: nest.map_structure(lambda steps: steps.read(time), self._input_tas))

    def initialize(self, name=None):
        with name_scope(name, "TrainingHelperInitialize"):
            finished = math_ops.equal(0, self._sequence_length)
            return finished, self._inputs_at(0, finished)

    def sample(self, time, outputs, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return math_ops.cast(math_ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._inputs_at(next_time, finished), state


def _probability(value):
    value = convert_to_tensor(value, name="sampling_probability")
    if value.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {value.shape}")
    return value


def _batch_samples(probability, batch_size, dtype, seed):
    return _weir.scheduled_choices(_graph(), probability, batch_size, dtypes.as_dtype(dtype), seed)


def _chosen_rows(sampled, rows_of_sampled, others):
    """Rows that were sampled come from a function of their places, the rest from ``others``."""
    return _weir.mixed_rows(_graph(), sampled, others, rows_of_sampled)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """The right inputs, but sometimes the embedded class that was drawn last (Bengio et al., 2015)."""

    def __init__(self, inputs, sequence_length, embedding, sampling_probability, time_major=False, seed=None,
                 scheduling_seed=None, name=None):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [sampling_probability]):
            self._embedding_fn = _embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs]):
            chosen = _batch_samples(self._sampling_probability, self.batch_size, dtypes.bool, self._scheduling_seed)
            return array_ops.where(chosen, categorical_sample(logits=outputs, seed=self._seed),
                                   array_ops.fill(array_ops.reshape(self.batch_size, [1]), -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, sample_ids]):
            finished, given, state = super().next_inputs(time=time, outputs=outputs, state=state,
                                                         sample_ids=sample_ids, name=name)

            def maybe_sample():
                return _chosen_rows(sample_ids > -1,
                                    lambda places: self._embedding_fn(array_ops.gather_nd(sample_ids, places)), given)

            return finished, cond(math_ops.reduce_all(finished), lambda: given, maybe_sample), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """The right inputs, but sometimes the last outputs, or what a function makes of them."""

    def __init__(self, inputs, sequence_length, sampling_probability, time_major=False, seed=None, next_inputs_fn=None,
                 auxiliary_inputs=None, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = array_ops.concat([inputs, auxiliary_inputs], -1)
                self._auxiliary_input_tas = _steps(
                    auxiliary_inputs if time_major else transpose_batch_time(auxiliary_inputs))
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs]):
            return _batch_samples(self._sampling_probability, self.batch_size, dtypes.int32, self._seed)

    def _with_auxiliary(self, outputs, time, places=None):
        if self._auxiliary_input_tas is None:
            return outputs
        beside = self._auxiliary_input_tas.read(time + 1)
        return array_ops.concat([outputs, beside if places is None else array_ops.gather_nd(beside, places)], -1)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, sample_ids]):
            finished, given, state = super().next_inputs(time=time, outputs=outputs, state=state,
                                                         sample_ids=sample_ids, name=name)
            sampled = math_ops.cast(sample_ids, dtypes.bool)

            def maybe_sample():
                if self._next_inputs_fn is None:
                    return array_ops.where(sampled, self._with_auxiliary(outputs, time), given)
                return _chosen_rows(sampled, lambda places: self._with_auxiliary(
                    self._next_inputs_fn(array_ops.gather_nd(outputs, places)), time, places), given)

            nothing = math_ops.logical_or(math_ops.reduce_all(finished),
                                          math_ops.logical_not(math_ops.reduce_any(sampled)))
            return finished, cond(nothing, lambda: given, maybe_sample), state


class GreedyEmbeddingHelper(Helper):
    """The embedded likeliest class of the step before."""

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtype="int32", name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtype="int32", name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array_ops.size(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: TensorShape([]))
    sample_ids_dtype = property(lambda self: dtypes.int32)

    def initialize(self, name=None):
        return array_ops.tile([False], array_ops.reshape(self._batch_size, [1])), self._start_inputs

    @staticmethod
    def _require_tensor(outputs):
        if not isinstance(outputs, Tensor):
            raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")

    def sample(self, time, outputs, state, name=None):
        self._require_tensor(outputs)
        return math_ops.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = math_ops.equal(sample_ids, self._end_token)
        next_inputs = cond(math_ops.reduce_all(finished), lambda: self._start_inputs,
                           lambda: self._embedding_fn(sample_ids))
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """The same with classes drawn at random."""

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time, outputs, state, name=None):
        self._require_tensor(outputs)
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """Inputs that functions make of the outputs."""

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = TensorShape(sample_shape), sample_dtype
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = array_ops.shape(self._start_inputs)[0]

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: self._sample_shape)
    sample_ids_dtype = property(lambda self: self._sample_dtype)

    def initialize(self, name=None):
        return array_ops.tile([False], array_ops.reshape(self._batch_size, [1])), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        next_inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
