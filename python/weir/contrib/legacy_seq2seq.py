"""tf.contrib.legacy_seq2seq, in TensorFlow 0.x tf.nn.seq2seq: sequences to sequences along Python lists."""

import inspect as _inspect

from weir import names as _names, nest as _nest
from weir.core import dtypes as _dtypes
from weir.core.graph import name_scope as _name_scope
from weir.core.variable_scope import (get_variable as _get_variable, get_variable_scope as _get_variable_scope,
                                      variable_scope as _variable_scope)
from weir.ops import array_ops as _array_ops, control_flow_ops as _control_flow_ops, math_ops as _math_ops
from weir.ops import conv_ops as _conv_ops, nn_ops as _nn_ops
from weir.rnn import cells as _rnn_cell, rnn as _rnn, wrappers as _wrappers


def _next_input(loop_function, previous, i, given):
    """The input of step ``i``: the one given, or what ``loop_function`` makes of the output before."""
    if loop_function is None or previous is None:
        return given
    with _variable_scope("loop_function", reuse=True):
        return loop_function(previous, i)


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """Runs a cell along a list of inputs [batch, size], or on its own outputs by way of ``loop_function(output, i)``."""
    with _variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for i, step_input in enumerate(decoder_inputs):
            step_input = _next_input(loop_function, previous, i, step_input)
            if i > 0:
                _get_variable_scope().reuse_variables()
            output, state = cell(step_input, state)
            outputs.append(output)
            previous = output
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=_dtypes.float32, scope=None):
    """A decoder that begins with the last state of an encoder of the same kind, with weights of its own."""
    with _variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = _rnn.static_rnn(_rnn_cell._with_own_weights(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=_dtypes.float32, scope=None):
    """The same with one set of weights for both."""
    with _variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = _rnn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        _get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def _argmax_and_embed(embedding, output_projection=None, update_embedding=True):
    def loop_function(previous, _):
        if output_projection is not None:
            previous = _nn_ops.xw_plus_b(previous, output_projection[0], output_projection[1])
        embedded = _nn_ops.embedding_lookup(embedding, _math_ops.argmax(previous, 1))
        return embedded if update_embedding else _array_ops.stop_gradient(embedded)

    return loop_function


def _embedded(decoder_inputs, num_symbols, embedding_size, feed_previous, output_projection, update_embedding):
    """The embedded inputs of a decoder and its loop function."""
    embedding = _get_variable("embedding", [num_symbols, embedding_size])
    loop_function = _argmax_and_embed(embedding, output_projection, update_embedding) if feed_previous else None
    return [_nn_ops.embedding_lookup(embedding, step) for step in decoder_inputs], loop_function


def _check_projection(output_projection, size, num_symbols):
    if output_projection is not None:
        _array_ops.convert_to_tensor(output_projection[0]).shape.assert_is_compatible_with([size, num_symbols])
        _array_ops.convert_to_tensor(output_projection[1]).shape.assert_is_compatible_with([num_symbols])


def embedding_rnn_decoder(decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None,
                          feed_previous=False, update_embedding_for_previous=True, scope=None):
    """``rnn_decoder`` on symbols."""
    with _variable_scope(scope or "embedding_rnn_decoder") as scope:
        _check_projection(output_projection, cell.output_size, num_symbols)
        inputs, loop_function = _embedded(decoder_inputs, num_symbols, embedding_size, feed_previous, output_projection,
                                          update_embedding_for_previous)
        return rnn_decoder(inputs, initial_state, cell, loop_function=loop_function)


def _with_feeding(feed_previous, decoder):
    """``decoder(feed_previous)``, where that is a bool or a tensor."""
    if isinstance(feed_previous, bool):
        return decoder(feed_previous)
    state = None

    def branch(feed, reuse):
        def build():
            nonlocal state
            with _variable_scope(_get_variable_scope(), reuse=reuse):
                outputs, state = decoder(feed)
            return list(outputs) + _nest.flatten(state)

        return build

    results = _control_flow_ops.cond(feed_previous, branch(True, None), branch(False, True))
    parts = len(_nest.flatten(state))
    return results[:-parts], _nest.pack_sequence_as(state, results[-parts:])


def embedding_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size,
                          output_projection=None, feed_previous=False, dtype=None, scope=None):
    """``basic_rnn_seq2seq`` on symbols."""
    with _variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        encoder = _wrappers.EmbeddingWrapper(_rnn_cell._with_own_weights(cell), embedding_classes=num_encoder_symbols,
                                             embedding_size=embedding_size)
        _, state = _rnn.static_rnn(encoder, encoder_inputs, dtype=dtype or scope.dtype)
        if output_projection is None:
            cell = _wrappers.OutputProjectionWrapper(cell, num_decoder_symbols)
        return _with_feeding(feed_previous, lambda feed: embedding_rnn_decoder(
            decoder_inputs, state, cell, num_decoder_symbols, embedding_size, output_projection=output_projection,
            feed_previous=feed))


def embedding_tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size,
                               num_decoder_symbols=None, output_projection=None, feed_previous=False, dtype=None,
                               scope=None):
    """``tied_rnn_seq2seq`` on symbols of one embedding."""
    with _variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        if output_projection is not None:
            _array_ops.convert_to_tensor(output_projection[0]).shape.assert_is_compatible_with([None, num_symbols])
            _array_ops.convert_to_tensor(output_projection[1]).shape.assert_is_compatible_with([num_symbols])
        embedding = _get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoded, decoded = ([_nn_ops.embedding_lookup(embedding, step) for step in steps]
                            for steps in (encoder_inputs, decoder_inputs))
        if output_projection is None:
            cell = _wrappers.OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)
        update = isinstance(feed_previous, bool)

        def decoder(feed):
            loop_function = _argmax_and_embed(embedding, output_projection, update) if feed else None
            return tied_rnn_seq2seq(encoded, decoded, cell, loop_function=loop_function, dtype=dtype)

        return _with_feeding(feed_previous, decoder)


def one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, enc_cell, dec_cells_dict, num_encoder_symbols,
                         num_decoder_symbols_dict, embedding_size, feed_previous=False, dtype=None, scope=None):
    """One encoder and several decoders on symbols: outputs and states by name."""
    if not isinstance(enc_cell, _rnn_cell.RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decodre_inputs_dict")
    for cell in dec_cells_dict.values():
        if not isinstance(cell, _rnn_cell.RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")
    outputs, states = {}, {}
    with _variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        encoder = _wrappers.EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols,
                                             embedding_size=embedding_size)
        _, state = _rnn.static_rnn(encoder, encoder_inputs, dtype=scope.dtype)
        for name, decoder_inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with _variable_scope(f"one2many_decoder_{name}"):
                cell = _wrappers.OutputProjectionWrapper(dec_cells_dict[name], symbols)
                outputs[name], states[name] = _with_feeding(
                    feed_previous, lambda feed, inputs=decoder_inputs, cell=cell, symbols=symbols: embedding_rnn_decoder(
                        inputs, state, cell, symbols, embedding_size, feed_previous=feed))
    return outputs, states


def attention_decoder(decoder_inputs, initial_state, attention_states, cell, output_size=None, num_heads=1,
                      loop_function=None, dtype=None, scope=None, initial_state_attention=False):
    """A decoder that looks at ``attention_states`` [batch, length, size] in every step."""
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    if output_size is None:
        output_size = cell.output_size
    with _variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = dtype or scope.dtype
        length, size = attention_states.shape.as_list()[1:]
        if length is None:
            length = _array_ops.shape(attention_states)[1]
        hidden = _array_ops.reshape(attention_states, [-1, length, 1, size])
        features, vectors = [], []
        for head in range(num_heads):
            kernel = _get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
            features.append(_conv_ops.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"))
            vectors.append(_get_variable(f"AttnV_{head}", [size], dtype=dtype))

        def attention(query):
            if _nest.is_sequence(query):
                query = _array_ops.concat(_nest.flatten(query), 1)
            looks = []
            for head in range(num_heads):
                with _variable_scope(f"Attention_{head}"):
                    y = _array_ops.reshape(_rnn_cell._linear(query, size, True), [-1, 1, 1, size])
                    scores = _math_ops.reduce_sum(vectors[head] * _math_ops.tanh(features[head] + y), [2, 3])
                    weights = _array_ops.reshape(_nn_ops.softmax(scores), [-1, length, 1, 1])
                    looks.append(_array_ops.reshape(_math_ops.reduce_sum(weights * hidden, [1, 2]), [-1, size]))
            return looks

        state, outputs, previous = initial_state, [], None
        batch_size = _array_ops.shape(decoder_inputs[0])[0]
        looks = [_array_ops.zeros(_array_ops.stack([batch_size, size]), dtype=dtype) for _ in range(num_heads)]
        for look in looks:
            look.set_shape([None, size])
        if initial_state_attention:
            looks = attention(initial_state)
        for i, step_input in enumerate(decoder_inputs):
            if i > 0:
                _get_variable_scope().reuse_variables()
            step_input = _next_input(loop_function, previous, i, step_input)
            if step_input.shape.with_rank(2).as_list()[1] is None:
                raise ValueError(f"Could not infer input size from input: {step_input.name}")
            x = _rnn_cell._linear([step_input] + looks, step_input.shape.as_list()[1], True)
            cell_output, state = cell(x, state)
            with _variable_scope(_get_variable_scope(), reuse=True if i == 0 and initial_state_attention else None):
                looks = attention(state)
            with _variable_scope("AttnOutputProjection"):
                output = _rnn_cell._linear([cell_output] + looks, output_size, True)
            if loop_function is not None:
                previous = output
            outputs.append(output)
    return outputs, state


def embedding_attention_decoder(decoder_inputs, initial_state, attention_states, cell, num_symbols, embedding_size,
                                num_heads=1, output_size=None, output_projection=None, feed_previous=False,
                                update_embedding_for_previous=True, dtype=None, scope=None,
                                initial_state_attention=False):
    """``attention_decoder`` on symbols."""
    if output_size is None:
        output_size = cell.output_size
    with _variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        _check_projection(output_projection, output_size, num_symbols)
        inputs, loop_function = _embedded(decoder_inputs, num_symbols, embedding_size, feed_previous, output_projection,
                                          update_embedding_for_previous)
        return attention_decoder(inputs, initial_state, attention_states, cell, output_size=output_size,
                                 num_heads=num_heads, loop_function=loop_function,
                                 initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
                                embedding_size, num_heads=1, output_projection=None, feed_previous=False, dtype=None,
                                scope=None, initial_state_attention=False):
    """``embedding_rnn_seq2seq`` with a decoder that looks at the encoder's outputs."""
    with _variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        encoder = _wrappers.EmbeddingWrapper(_rnn_cell._with_own_weights(cell), embedding_classes=num_encoder_symbols,
                                             embedding_size=embedding_size)
        encoded, state = _rnn.static_rnn(encoder, encoder_inputs, dtype=dtype or scope.dtype)
        attention_states = _array_ops.concat(
            [_array_ops.reshape(output, [-1, 1, cell.output_size]) for output in encoded], 1)
        output_size = None
        if output_projection is None:
            cell = _wrappers.OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols
        return _with_feeding(feed_previous, lambda feed: embedding_attention_decoder(
            decoder_inputs, state, attention_states, cell, num_decoder_symbols, embedding_size, num_heads=num_heads,
            output_size=output_size, output_projection=output_projection, feed_previous=feed,
            initial_state_attention=initial_state_attention))


def _loss(softmax_loss_function, target, logit):
    if softmax_loss_function is None:
        return _nn_ops.sparse_softmax_cross_entropy_with_logits(labels=_array_ops.reshape(target, [-1]), logits=logit)
    try:
        parameters = list(_inspect.signature(softmax_loss_function).parameters)
    except (TypeError, ValueError):
        parameters = ["labels", "logits"]
    if "labels" in parameters and "logits" in parameters:
        return softmax_loss_function(labels=target, logits=logit)
    # Releases before 1.1 passed two arguments in this order, those before 1.0 (inputs, labels).
    return softmax_loss_function(*((logit, target) if parameters[:1] == ["inputs"] else (target, logit)))


def sequence_loss_by_example(logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None,
                             name=None):
    """The weighted cross entropy of a list of logits [batch, classes], summed over the list: one number an example."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
                         f"{len(targets)}.")
    with _name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = [_loss(softmax_loss_function, target, logit) * weight
                  for logit, target, weight in zip(logits, targets, weights)]
        total = _math_ops.add_n(losses)
        if average_across_timesteps:
            total /= _math_ops.add_n(weights) + 1e-12  # an example may have no weight at all
        return total


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  softmax_loss_function=None, name=None):
    """The sum of ``sequence_loss_by_example``, or its mean over the batch."""
    with _name_scope(name, "sequence_loss", logits + targets + weights):
        cost = _math_ops.reduce_sum(sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function))
        if not average_across_batch:
            return cost
        return cost / _math_ops.cast(_array_ops.shape(targets[0])[0], cost.dtype)


def model_with_buckets(encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq, softmax_loss_function=None,
                       per_example_loss=False, name=None):
    """A model for each pair (encoder length, decoder length) of ``buckets``, with shared weights: outputs and losses."""
    for what, have, need in (("encoder_inputs", encoder_inputs, buckets[-1][0]), ("targets", targets, buckets[-1][1]),
                             ("weights", weights, buckets[-1][1])):
        if len(have) < need:
            raise ValueError(f"Length of {what} ({len(have)}) must be at least that of last bucket ({need}).")
    losses, outputs = [], []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    with _name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for i, (encoder_size, decoder_size) in enumerate(buckets):
            with _variable_scope(_get_variable_scope(), reuse=True if i > 0 else None):
                result, _ = seq2seq(encoder_inputs[:encoder_size], decoder_inputs[:decoder_size])
                outputs.append(result)
                losses.append(loss(result, targets[:decoder_size], weights[:decoder_size],
                                   softmax_loss_function=softmax_loss_function))
    return outputs, losses


__getattr__, __dir__ = _names.namespace(__name__)
