"""Text as characters and parts of it: rows of as many as there are."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.ops import array_ops, math_ops
from weir.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor


def _deeper(function, input, name, scope):
    """A function that makes a row of each string of a vector, for strings in any shape."""
    with name_scope(name, scope, []):
        input = convert_to_tensor_or_ragged_tensor(input, dtype=dtypes.string)
        if isinstance(input, RaggedTensor):
            rows = function(input.flat_values)
            return tuple(input.with_flat_values(part) for part in rows) if isinstance(rows, tuple) else input.with_flat_values(rows)
        rank = input.shape.ndims
        if rank is None:
            raise ValueError("Rank of input must be statically known.")
        if rank == 1:
            return function(input)
        if rank == 0:
            rows = function(array_ops.expand_dims(input, 0))
            return tuple(part.values for part in rows) if isinstance(rows, tuple) else rows.values
        ragged = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
        rows = function(ragged.flat_values)
        return tuple(ragged.with_flat_values(part) for part in rows) if isinstance(rows, tuple) else ragged.with_flat_values(rows)


def _decoded(input_encoding, errors, replacement_char, replace_control_characters):
    def decode(strings):
        splits, characters, offsets = apply("UnicodeDecodeWithOffsets", (strings,), {
            "input_encoding": input_encoding, "errors": errors, "replacement_char": replacement_char,
            "replace_control_characters": replace_control_characters, "Tsplits": dtypes.int64}, None)
        return RaggedTensor(characters, splits, internal=True), RaggedTensor(offsets, splits, internal=True)

    return decode


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False, name=None):
    return _deeper(_decoded(input_encoding, errors, replacement_char, replace_control_characters), input, name, "UnicodeDecodeWithOffsets")


def unicode_decode(input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False, name=None):
    return unicode_decode_with_offsets(input, input_encoding, errors, replacement_char, replace_control_characters, name)[0]


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    with name_scope(name, "UnicodeEncode", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtype=None if hasattr(input, "dtype") else dtypes.int32)
        if not isinstance(input, RaggedTensor):
            rank = input.shape.ndims
            if rank is None:
                raise ValueError("Rank of input_tensor must be statically known.")
            if rank == 0:
                raise ValueError("input_tensor's rank must be at least 1.")
            if rank == 1:
                return array_ops.reshape(unicode_encode(array_ops.expand_dims(input, 0), output_encoding, errors, replacement_char), [])
            input = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
        if isinstance(input.values, RaggedTensor):
            return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char))
        if (input.values.shape.ndims or 1) > 1:
            return unicode_encode(input.with_values(RaggedTensor.from_tensor(input.values)), output_encoding, errors, replacement_char)
        return apply("UnicodeEncode", (input.values, math_ops.cast(input.row_splits, dtypes.int64)),
                     {"output_encoding": output_encoding, "errors": errors, "replacement_char": replacement_char}, None)


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    def split(strings):
        characters, offsets = _decoded(input_encoding, errors, replacement_char, False)(strings)
        alone = RaggedTensor(array_ops.expand_dims(characters.values, 1), characters.row_splits, internal=True)
        return characters.with_values(unicode_encode(alone.values, input_encoding, "ignore" if errors == "ignore" else "replace", replacement_char)), offsets

    return _deeper(split, input, name, "UnicodeSplitWithOffsets")


def unicode_split(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char, name)[0]


def bytes_split(input, name=None):
    def split(strings):
        indices, values, shape = apply("StringSplit", (strings, convert_to_tensor("")), {"skip_empty": False}, None)
        return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)

    return _deeper(split, input, name, "StringsBytesSplit")


def split_v2(input, sep=None, maxsplit=-1, name=None):
    def split(strings):
        indices, values, shape = apply("StringSplitV2", (strings, convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)), {"maxsplit": maxsplit}, None)
        return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)

    return _deeper(split, input, name, "StringSplit")


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """Runs of so many neighbouring strings of each row, joined."""
    with name_scope(name, "StringNGrams", []):
        left, right = ("", "") if pad_values is None else (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
        if pad_values is None and padding_width:
            raise ValueError("pad_values must be provided if padding_width is set.")
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        if any(width < 1 for width in widths):
            raise ValueError("All ngram_widths must be greater than 0.")
        pad_width = 0 if pad_values is None else -1 if padding_width is None else padding_width
        data = convert_to_tensor_or_ragged_tensor(data, dtype=dtypes.string)
        rank = data.shape.ndims
        dense = not isinstance(data, RaggedTensor)
        if dense:
            if not rank:
                raise ValueError("ngrams() data must be at least rank 1")
            data = RaggedTensor.from_tensor(data, ragged_rank=rank - 1) if rank > 1 else RaggedTensor(
                data, array_ops.stack([math_ops.cast(0, dtypes.int64), array_ops.size(data, out_type=dtypes.int64)]), internal=True)

        def of_rows(rows):
            if isinstance(rows.values, RaggedTensor):
                return rows.with_values(of_rows(rows.values))
            texts, splits = apply("StringNGrams", (rows.values, rows.row_splits), {
                "separator": separator, "ngram_widths": widths, "left_pad": left, "right_pad": right, "pad_width": pad_width,
                "preserve_short_sequences": preserve_short_sequences}, None)
            return RaggedTensor(texts, splits, internal=True)

        result = of_rows(data)
        return result.values if dense and rank == 1 else result.to_tensor() if dense else result
