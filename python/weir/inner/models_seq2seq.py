"""tensorflow.models.rnn.seq2seq, TensorFlow 0.5 to 0.7: embeddings were as large as a cell's input, losses were told the number
of symbols. Calls in the order of later releases are understood as well: an embedding size or a flag is no projection."""

import copy
import inspect

from weir.contrib import legacy_seq2seq as _later


def _without_embedding_size(later):
    """``later`` whose embedding size is that of the cell's output unless it is given."""
    parameters = list(inspect.signature(later).parameters)
    place = parameters.index("embedding_size")
    old_order = parameters[:place] + parameters[place + 1:]

    def function(*args, **kwargs):
        given = args[place] if len(args) > place else None
        is_size = isinstance(given, int) and not isinstance(given, bool) and old_order[place] != "num_heads"
        if "embedding_size" in kwargs or is_size:
            return later(*args, **kwargs)
        arguments = dict(zip(old_order, args), **kwargs)
        return later(embedding_size=arguments["cell"].output_size, **arguments)

    function.__name__ = function.__qualname__ = later.__name__
    function.__doc__ = later.__doc__
    return function


embedding_rnn_decoder = _without_embedding_size(_later.embedding_rnn_decoder)
embedding_rnn_seq2seq = _without_embedding_size(_later.embedding_rnn_seq2seq)
embedding_tied_rnn_seq2seq = _without_embedding_size(_later.embedding_tied_rnn_seq2seq)
embedding_attention_decoder = _without_embedding_size(_later.embedding_attention_decoder)
embedding_attention_seq2seq = _without_embedding_size(_later.embedding_attention_seq2seq)


def one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, cell, *args, **kwargs):
    """Before TensorFlow 1.0 one cell was the encoder's and all decoders'."""
    if args and isinstance(args[0], dict) or "dec_cells_dict" in kwargs:
        return _later.one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, cell, *args, **kwargs)
    cells = {name: copy.deepcopy(cell) for name in decoder_inputs_dict}
    return _later.one2many_rnn_seq2seq(encoder_inputs, decoder_inputs_dict, cell, cells, *args, **kwargs)


def _without_symbols(later, place):
    """``later`` of arguments among which the number of symbols may stand at ``place``."""

    def function(*args, **kwargs):
        kwargs.pop("num_decoder_symbols", None)
        if len(args) > place and isinstance(args[place], int) and not isinstance(args[place], bool):
            args = args[:place] + args[place + 1:]
        return later(*args, **kwargs)

    function.__name__ = function.__qualname__ = later.__name__
    function.__doc__ = later.__doc__
    return function


sequence_loss = _without_symbols(_later.sequence_loss, 3)
sequence_loss_by_example = _without_symbols(_later.sequence_loss_by_example, 3)
model_with_buckets = _without_symbols(_later.model_with_buckets, 5)
