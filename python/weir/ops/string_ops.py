"""Text: tf.strings and its older names."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.dispatch import dispatches
from weir.core.op_functions import apply
from weir.ops import array_ops, math_ops, simple
from weir.ops.simple import either

simple.install(globals(), {
    "string_strip": "StringStrip",
    "lower": "StringLower",
    "upper": "StringUpper",
    "to_hash_bucket_fast": "StringToHashBucketFast",
    "to_hash_bucket_strong": "StringToHashBucketStrong",
    "unicode_transcode": "UnicodeTranscode",
    "unsorted_segment_join": "UnsortedSegmentJoin",
    "unicode_script": "UnicodeScript",
})


def fingerprint(data, method="farmhash64", name=None):
    """Eight bytes for each row of ``data``, of any type."""
    return apply("Fingerprint", (data, method), {}, name)


def _text(value):
    """A text of the program, or None for a tensor."""
    return value if isinstance(value, (str, bytes)) else None


@dispatches
def regex_full_match(input, pattern, name=None):
    if _text(pattern) is not None:
        return apply("StaticRegexFullMatch", (input,), {"pattern": pattern}, name)
    return apply("RegexFullMatch", (input, pattern), {}, name)


@dispatches
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    if _text(pattern) is not None and _text(rewrite) is not None:
        attrs = {"pattern": pattern, "rewrite": rewrite, "replace_global": replace_global}
        return apply("StaticRegexReplace", (input,), attrs, name)
    return apply("RegexReplace", (input, pattern, rewrite), {"replace_global": replace_global}, name)


@dispatches
def to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    return apply("StringToHashBucket", (either("input", string_tensor, "string_tensor", input),),
                 {"num_buckets": num_buckets}, name)


@dispatches
def string_length(input, name=None, unit="BYTE"):
    return apply("StringLength", (input,), {"unit": unit}, name)


@dispatches
def substr(input, pos, len, name=None, unit="BYTE"):
    return apply("Substr", (input, pos, len), {"unit": unit}, name)


def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with the tensors in the places of ``placeholder``."""
    if isinstance(inputs, (Tensor, _weir.Variable)):
        inputs = [inputs]
    count = template.count(placeholder)
    if count != len(inputs):
        raise ValueError(f"{count} placeholder(s) in template does not match {len(inputs)} tensor(s) provided as input")
    inputs = [convert_to_tensor(value) for value in inputs]
    attrs = {"template": template, "placeholder": placeholder, "summarize": summarize}
    return apply("StringFormat", (inputs,), attrs, name)


@dispatches
def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Joins strings along dimensions; without ``axis`` all of them, the last one first."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keep_dims = either("keepdims", keepdims, "keep_dims", keep_dims)
    inputs = convert_to_tensor(inputs, dtype=dtypes.string)
    if axis is None:
        rank = inputs.get_shape().ndims
        axis = list(range(rank - 1, -1, -1)) if rank is not None else math_ops.range(array_ops.rank(inputs) - 1, -1, -1)
        axis = convert_to_tensor(axis, dtype=dtypes.int32)
    return apply("ReduceJoin", (inputs, axis), {"keep_dims": bool(keep_dims), "separator": separator}, name)
