"""Decoders of TensorFlow 1.0's tf.contrib.seq2seq: functions that say what a step reads, and the loop that asks them."""

from weir import nest
from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.variable_scope import get_variable, variable_scope
from weir.ops import array_ops, math_ops, nn_ops
from weir.ops.control_flow_ops import cond
from weir.ops.tensor_array_ops import TensorArray
from weir.rnn.cells import _linear
from weir.rnn.rnn import raw_rnn, transpose_batch_time


def dynamic_rnn_decoder(cell, decoder_fn, inputs=None, sequence_length=None, parallel_iterations=None, swap_memory=False,
                        time_major=False, scope=None, name=None):
    """Runs a cell on inputs, or on what ``decoder_fn`` makes of its outputs: (outputs, last state, last context).

    ``decoder_fn(time, cell_state, cell_input, cell_output, context_state)`` gives (done, next state, next input, emitted
    output, next context); done may be None where ``sequence_length`` says it.
    """
    with variable_scope(scope, name or "dynamic_rnn_decoder"):
        if inputs is not None:
            inputs = convert_to_tensor(inputs)
            if not time_major:
                inputs = transpose_batch_time(inputs)
            steps = TensorArray(inputs.dtype, flow=inputs)._filled_with_rows(inputs)
            longest = array_ops.shape(inputs)[0]
            if sequence_length is None:
                sequence_length = array_ops.fill(array_ops.shape(inputs)[1:2], longest)
        if sequence_length is not None:
            sequence_length = math_ops.cast(sequence_length, "int32")

        def loop_fn(time, cell_output, cell_state, loop_state):
            if inputs is None:
                given = None
            elif cell_output is None:
                given = steps.read(0)
            else:
                given = cond(time < longest, lambda: steps.read(time), lambda: array_ops.zeros_like(inputs[0]))
            done, state, next_input, emit, context = decoder_fn(time, cell_state, given, cell_output, loop_state)
            if done is None:
                if sequence_length is None:
                    raise ValueError("Neither decoder_fn nor sequence_length says where sequences end")
                done = time >= sequence_length
            return done, next_input, state, emit, context

        outputs, state, context = raw_rnn(cell, loop_fn, parallel_iterations, swap_memory, scope)
        outputs = nest.map_structure(lambda array: array.stack(), outputs)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state, context


def simple_decoder_fn_train(encoder_state, name=None):
    """For training: the given inputs, from the encoder's state on."""
    with name_scope(name, "simple_decoder_fn_train"):
        pass

    def decoder_fn(time, cell_state, cell_input, cell_output, context_state):
        return None, encoder_state if cell_state is None else cell_state, cell_input, cell_output, context_state

    return decoder_fn


def _inference(output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
               num_decoder_symbols, dtype, make_input, make_output):
    """A decoder function that reads the likeliest symbol of the step before."""
    output_fn = output_fn or (lambda output: output)
    batch = array_ops.shape(nest.flatten(encoder_state)[0])[:1]

    def decoder_fn(time, cell_state, cell_input, cell_output, context_state):
        if cell_input is not None:
            raise ValueError(f"Expected cell_input to be None, but saw: {cell_input}")
        if cell_output is None:
            symbols = array_ops.fill(batch, math_ops.cast(start_of_sequence_id, dtype))
            done, cell_state = array_ops.zeros(batch, dtypes.bool), encoder_state
            cell_output = array_ops.zeros([num_decoder_symbols], "float32")
            next_input = make_input(nn_ops.embedding_lookup(embeddings, symbols), None)
        else:
            looked = make_output(cell_output, context_state)
            cell_output = output_fn(looked)
            symbols = math_ops.cast(math_ops.argmax(cell_output, 1), dtype)
            done = math_ops.equal(symbols, math_ops.cast(end_of_sequence_id, dtype))
            next_input = make_input(nn_ops.embedding_lookup(embeddings, symbols), looked)
        done = cond(math_ops.greater(time, maximum_length), lambda: array_ops.ones(batch, dtypes.bool), lambda: done)
        return done, cell_state, next_input, cell_output, context_state

    return decoder_fn


def simple_decoder_fn_inference(output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id,
                                maximum_length, num_decoder_symbols, dtype=dtypes.int32, name=None):
    """For use: the embedded likeliest symbol of the step before, until the end."""
    with name_scope(name, "simple_decoder_fn_inference"):
        return _inference(output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
                          num_decoder_symbols, dtype, lambda embedded, _: embedded, lambda output, _: output)


def prepare_attention(attention_states, attention_option, num_units, reuse=False):
    """(keys, values, score function, construct function) of an attention: "bahdanau" or "luong"."""
    with variable_scope("attention_keys", reuse=reuse):
        depth = attention_states.shape.as_list()[2]
        weights = get_variable("weights", [depth, num_units])
        flat = math_ops.matmul(array_ops.reshape(attention_states, [-1, depth]), weights)
        keys = array_ops.reshape(flat, array_ops.concat([array_ops.shape(attention_states)[:2], [num_units]], 0))
    if attention_option not in ("bahdanau", "luong"):
        raise ValueError(f"Unknown attention option {attention_option}!")

    def score_fn(query, keys, values):
        with variable_scope("attention_score", reuse=reuse):
            if attention_option == "bahdanau":
                query = math_ops.matmul(query, get_variable("attnW", [query.shape.as_list()[1], num_units]))
                vector = get_variable("attnV", [num_units], dtype="float32")
                scores = math_ops.reduce_sum(vector * math_ops.tanh(keys + array_ops.expand_dims(query, 1)), [2])
            else:
                scores = math_ops.reduce_sum(keys * array_ops.expand_dims(query, 1), [2])
            weights = array_ops.expand_dims(nn_ops.softmax(scores), 2)
            return math_ops.reduce_sum(weights * values, [1])

    def construct_fn(query, keys, values):
        with variable_scope("attention_construct", reuse=reuse):
            context = score_fn(query, keys, values)
            return _linear(array_ops.concat([query, context], 1), num_units, False)

    return keys, attention_states, score_fn, construct_fn


def _attend_first(embedded, looked, values):
    """The input beside what was looked at last; nothing at the beginning."""
    if looked is None:
        looked = array_ops.zeros(array_ops.stack([array_ops.shape(embedded)[0], values]), embedded.dtype)
        looked.set_shape([None, values])
    return array_ops.concat([embedded, looked], 1)


def attention_decoder_fn_train(encoder_state, attention_keys, attention_values, attention_score_fn,
                               attention_construct_fn, name=None):
    """``simple_decoder_fn_train`` for a decoder that looks at ``attention_values``."""
    units = attention_keys.shape.as_list()[2]

    def decoder_fn(time, cell_state, cell_input, cell_output, context_state):
        looked = None
        if cell_output is None:
            cell_state = encoder_state
        else:
            looked = attention_construct_fn(cell_output, attention_keys, attention_values)
            cell_output = looked
        return None, cell_state, _attend_first(cell_input, looked, units), cell_output, context_state

    return decoder_fn


def attention_decoder_fn_inference(output_fn, encoder_state, attention_keys, attention_values, attention_score_fn,
                                   attention_construct_fn, embeddings, start_of_sequence_id, end_of_sequence_id,
                                   maximum_length, num_decoder_symbols, dtype=dtypes.int32, name=None):
    """``simple_decoder_fn_inference`` for a decoder that looks at ``attention_values``."""
    units = attention_keys.shape.as_list()[2]
    with name_scope(name, "attention_decoder_fn_inference"):
        return _inference(output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
                          num_decoder_symbols, dtype, lambda embedded, looked: _attend_first(embedded, looked, units),
                          lambda output, _: attention_construct_fn(output, attention_keys, attention_values))
