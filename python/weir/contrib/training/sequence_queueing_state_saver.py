"""tf.contrib.training: long sequences in segments, with the states of a recurrent network carried from one to the next."""

from weir import errors
from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.tensor_util import constant_value
from weir.ops import array_ops, check_ops, control_flow_ops, math_ops
from weir.ops.random_ops import random_uniform
from weir.queues.barrier import Barrier
from weir.queues.queues import FIFOQueue
from weir.train.queue_runner import QueueRunner, add_queue_runner

_STOP = "STOP"


def _sorted(tensors, prefix):
    """{name: tensor} in the order of the names."""
    return {name: convert_to_tensor(tensors[name], name=f"{prefix}_{name}") for name in sorted(tensors)}


class NextQueuedSequenceBatch:
    """The next segments of ``batch_size`` sequences: ``sequences``, ``context``, their ``state``s, and what they are."""

    def __init__(self, saver):
        self._saver = saver

    total_length = property(lambda self: self._saver._received_total_length,
                            doc="How long each whole sequence is, without padding.")
    length = property(lambda self: self._saver._received_length, doc="How long each segment is, without padding.")
    batch_size = property(lambda self: self._saver._received_batch_size)
    insertion_index = property(lambda self: self._saver._received_indices, doc="Which came before which.")
    key = property(lambda self: self._saver._received_keys, doc='"00001_of_00003:name", for each segment.')
    next_key = property(lambda self: self._saver._received_next_key, doc='That of the next segment, or "STOP:name".')
    sequence = property(lambda self: self._saver._received_sequence, doc="The number of each segment.")
    sequence_count = property(lambda self: self._saver._received_sequence_count)
    sequences = property(lambda self: self._saver._received_sequences, doc="{name: [batch, num_unroll, ...]}")
    context = property(lambda self: self._saver._received_context, doc="{name: [batch, ...]}")

    def state(self, state_name):
        return self._saver._received_states[state_name]

    def save_state(self, state_name, value, name=None):
        """An operation that keeps the state for the next segments."""
        if state_name not in self._saver._received_states:
            raise KeyError(f"state was not declared: {state_name}")
        with name_scope(name, "InputQueueingStateSaver_save_state", [value]):
            goes_on = array_ops.reshape(array_ops.where(self._saver._received_goes_on), [-1])
            return self._saver._insert_state(state_name, array_ops.gather(self.next_key, goes_on),
                                             array_ops.gather(convert_to_tensor(value, name="value"), goes_on))


class SequenceQueueingStateSaver:
    """Cuts sequences, one at a time, into segments of ``num_unroll`` steps and gives them out in batches.

    A segment is ready when the one before it has been given out and its states were saved. ``prefetch_op`` puts the
    segments of one sequence in; at most ``capacity`` sequences are under way. Sequences are padded by the caller: their first
    dimension is a multiple of ``num_unroll`` of which ``input_length`` steps count."""

    def __init__(self, batch_size, num_unroll, input_length, input_key, input_sequences, input_context, initial_states,
                 capacity=None, allow_small_batch=False, name=None):
        if capacity is not None and isinstance(batch_size, int) and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}.")
        if not initial_states:
            raise ValueError("initial_states must have at least one state variable")
        self._num_unroll = num_unroll
        with name_scope(name, "InputQueueingStateSaver", [input_length, input_key]):
            self._batch_size = convert_to_tensor(batch_size, name="batch_size", dtype=dtypes.int32)
            self._length = convert_to_tensor(input_length, name="input_length", dtype=dtypes.int32)
            self._key = convert_to_tensor(input_key, name="input_key", dtype=dtypes.string)
            self._sequences = _sorted(input_sequences, "input_sequence")
            self._context = _sorted(input_context, "input_context")
            self._states = _sorted(initial_states, "initial_state")
            self._cut()
            self._capacity_queue = None if capacity is None else FIFOQueue(
                capacity, dtypes.int32, shapes=[()], name="capacity_queue")
            self._make_barrier()
            self._take(allow_small_batch)
            self._prefetch_op = self._make_prefetch()

    barrier = property(lambda self: self._barrier)
    batch_size = property(lambda self: self._batch_size)
    num_unroll = property(lambda self: self._num_unroll)
    prefetch_op = property(lambda self: self._prefetch_op)
    next_batch = property(lambda self: NextQueuedSequenceBatch(self))

    def close(self, cancel_pending_enqueues=False, name=None):
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            closed = [self._barrier.close(cancel_pending_enqueues, name="CloseBarrier")]
            if self._capacity_queue is not None:
                closed.append(self._capacity_queue.close(cancel_pending_enqueues, name="CloseCapacity"))
            return control_flow_ops.group(*closed, name=scope)

    def _cut(self):
        """The segments of the sequence at hand, in the order of its time."""
        lengths = [array_ops.shape(sequence)[0] for sequence in self._sequences.values()]
        padded = lengths[0] if lengths else (self._length + self._num_unroll - 1) // self._num_unroll * self._num_unroll
        rest, whole = padded % self._num_unroll, "Dimension 0 of sequences must be a multiple of num_unroll"
        if constant_value(rest):  # what is cut below would fail in words of its own
            raise errors.InvalidArgumentError(None, None, whole)
        checks = [check_ops.assert_equal(rest, 0, message=whole)]
        checks += [check_ops.assert_equal(length, padded, message="Dimension 0 of sequences must be equal")
                   for length in lengths[1:]]
        checks.append(check_ops.assert_less_equal(self._length, padded, message="A sequence is shorter than its length"))
        with control_dependencies(checks):
            self._count = array_ops.identity(padded // self._num_unroll, name="sequence_count")
        self._numbers = math_ops.range(self._count)

        def text(number):
            return array_ops.as_string(number, width=5, fill="0")

        name = array_ops.fill(array_ops.expand_dims(self._count, 0), self._key)
        total = array_ops.fill(array_ops.expand_dims(self._count, 0), text(self._count))
        self._keys = array_ops.string_join([text(self._numbers), "_of_", total, ":", name], name="StringJoinCurrentKeys")
        following = array_ops.string_join([text(self._numbers + 1), "_of_", total, ":", name], name="StringJoinNextKeys")
        last = array_ops.string_join([_STOP + ":", self._key], name="StringJoinStop")
        self._next_keys = array_ops.concat([following[:-1], array_ops.expand_dims(last, 0)], 0)

    def _make_barrier(self):
        unrolled = [[self._num_unroll] + s.get_shape().as_list()[1:] for s in self._sequences.values()]
        rest = list(self._context.values()) + list(self._states.values())
        values = list(self._sequences.values()) + rest
        # The number of the segment, of all, the whole length, the next key; then the values.
        self._barrier = Barrier([dtypes.int32, dtypes.int32, dtypes.int32, dtypes.string] + [v.dtype for v in values],
                                [()] * 4 + unrolled + [v.get_shape() for v in rest], name="barrier")
        first = 4 + len(self._sequences)
        self._context_at = {name: first + i for i, name in enumerate(self._context)}
        self._state_at = {name: first + len(self._context) + i for i, name in enumerate(self._states)}

    def _insert_state(self, name, keys, values):
        return self._barrier.insert_many(self._state_at[name], keys, values, name=f"BarrierInsertState_{name}")

    def _make_prefetch(self):
        def repeated(value):
            sizes = array_ops.concat([array_ops.expand_dims(self._count, 0), array_ops.ones_like(array_ops.shape(value))], 0)
            return array_ops.tile(array_ops.expand_dims(value, 0), sizes)

        room = [] if self._capacity_queue is None else [self._capacity_queue.enqueue(1, name="reserve")]
        with control_dependencies(room):
            keys = array_ops.identity(self._keys)
            values = [self._numbers, repeated(self._count), repeated(self._length), self._next_keys]
            for sequence in self._sequences.values():
                shape = array_ops.shape(sequence)
                values.append(array_ops.reshape(sequence, array_ops.concat([[self._count, self._num_unroll], shape[1:]], 0)))
            values += [repeated(value) for value in self._context.values()]
            inserted = [self._barrier.insert_many(i, keys, value) for i, value in enumerate(values)]
            # The other segments become ready when the states of the one before are saved.
            inserted += [self._insert_state(name, keys[:1], array_ops.expand_dims(state, 0))
                         for name, state in self._states.items()]
            return control_flow_ops.group(*inserted, name="prefetch")

    def _take(self, allow_small_batch):
        taken = self._barrier.take_many(self._batch_size, allow_small_batch, name="read")
        self._received_indices, self._received_keys = taken.indices, taken.keys
        self._received_sequence, self._received_sequence_count, total, next_key = taken.values[:4]
        self._received_total_length = total
        self._received_goes_on = math_ops.less(self._received_sequence + 1, self._received_sequence_count)
        freed = []
        if self._capacity_queue is not None:
            ended = math_ops.reduce_sum(math_ops.cast(math_ops.logical_not(self._received_goes_on), dtypes.int32))
            freed = [self._capacity_queue.dequeue_many(ended, name="release")]
        with control_dependencies(freed):
            self._received_next_key = array_ops.identity(next_key)
        self._received_batch_size = array_ops.squeeze(array_ops.shape(self._received_keys))
        self._received_length = math_ops.minimum(
            math_ops.maximum(total - self._received_sequence * self._num_unroll, 0), self._num_unroll)
        values = taken.values
        self._received_sequences = {name: values[4 + i] for i, name in enumerate(self._sequences)}
        self._received_context = {name: values[at] for name, at in self._context_at.items()}
        self._received_states = {name: values[at] for name, at in self._state_at.items()}


def batch_sequences_with_states(input_key, input_sequences, input_context, input_length, initial_states, num_unroll,
                                batch_size, num_threads=3, capacity=1000, allow_small_batch=True, pad=True,
                                make_keys_unique=False, make_keys_unique_seed=None, name=None):
    """Segments of sequences in batches (NextQueuedSequenceBatch), fed by a queue runner of the graph."""
    from_values = [input_key, input_length] + list(input_sequences.values()) + list(input_context.values())
    with name_scope(name, "batch_sequences_with_states", from_values):
        if make_keys_unique:
            random = random_uniform([], maxval=2 ** 31 - 1, dtype=dtypes.int32, seed=make_keys_unique_seed)
            input_key = array_ops.string_join([input_key, array_ops.as_string(random)], separator="__")
        if input_length is None:
            input_length = array_ops.shape(next(iter(input_sequences.values())))[0]
        if pad:
            input_sequences = {key: _padded(value, num_unroll) for key, value in input_sequences.items()}
        saver = SequenceQueueingStateSaver(batch_size, num_unroll, input_length, input_key, input_sequences, input_context,
                                           initial_states, capacity=capacity, allow_small_batch=allow_small_batch)
        add_queue_runner(QueueRunner(saver.barrier, [saver.prefetch_op] * num_threads, close_op=saver.close(),
                                     cancel_op=saver.close(cancel_pending_enqueues=True),
                                     queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError)))
        return saver.next_batch


def _padded(sequence, num_unroll):
    """With steps of zeros, or empty strings, up to a multiple of ``num_unroll``."""
    sequence = convert_to_tensor(sequence)
    sizes = array_ops.shape(sequence)
    more = -sizes[0] % num_unroll
    shape = array_ops.concat([array_ops.expand_dims(more, 0), sizes[1:]], 0)
    empty = array_ops.fill(shape, "") if sequence.dtype == dtypes.string else array_ops.zeros(shape, sequence.dtype)
    padded = array_ops.concat([sequence, empty], 0)
    padded.set_shape([None] + sequence.get_shape().as_list()[1:])
    return padded
