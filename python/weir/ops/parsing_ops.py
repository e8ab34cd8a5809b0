"""Features of examples, and fields of text, as tensors."""

import re
from collections import namedtuple

from weir import names
from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape, as_shape
from weir.ops import array_ops
from weir.ops.sparse_ops import SparseTensor

VarLenFeature = namedtuple("VarLenFeature", ["dtype"])
VarLenFeature.__doc__ = "A list of any length, as a SparseTensor."


class FixedLenFeature(namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of one shape; required unless it has a default."""

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(namedtuple("FixedLenSequenceFeature",
                                         ["shape", "dtype", "allow_missing", "default_value"])):
    """Rows of one shape, any number of them."""

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class SparseFeature(namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A SparseTensor whose places and values are two features."""

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class _Features:
    """Descriptions of features sorted into the lists that operations take."""

    def __init__(self, features, allowed):
        self.sparse_keys, self.sparse_types = [], []
        self.dense_keys, self.dense_types, self.dense_shapes = [], [], []
        self.defaults = {}
        for key in sorted(features or {}):
            feature = features[key]
            if not isinstance(feature, (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if not isinstance(feature, allowed):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            if isinstance(feature, SparseFeature):
                for part in ("index_key", "value_key"):
                    if not getattr(feature, part):
                        raise ValueError(f"Missing {part} for SparseFeature {feature}.")
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            if isinstance(feature, VarLenFeature):
                self._add_sparse(key, feature.dtype)
            elif isinstance(feature, SparseFeature):
                for index_key in sorted(_index_keys(feature)):
                    self._add_sparse(index_key, dtypes.int64)
                self._add_sparse(feature.value_key, feature.dtype)
            else:
                self._add_dense(key, feature)
        both = set(self.sparse_keys) & set(self.dense_keys)
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")

    def _add_sparse(self, key, dtype):
        dtype = dtypes.as_dtype(dtype)
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtype)
            return
        known = self.sparse_types[self.sparse_keys.index(key)]
        if known != dtype:
            raise ValueError(f"Conflicting type {known} vs {dtype} for feature {key}.")

    def _add_dense(self, key, feature):
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = as_shape(feature.shape)
        if isinstance(feature, FixedLenFeature):
            if shape.ndims and shape.as_list()[0] is None:
                raise ValueError(f"First dimension of shape for feature {key} unknown. "
                                 "Consider using FixedLenSequenceFeature.")
            if not shape.is_fully_defined():
                raise ValueError(f"All dimensions of shape for feature {key} need to be known but received "
                                 f"{feature.shape}.")
        elif feature.allow_missing:
            self.defaults[key] = None
        if feature.default_value is not None:
            self.defaults[key] = feature.default_value
        self.dense_keys.append(key)
        self.dense_types.append(dtypes.as_dtype(feature.dtype))
        self.dense_shapes.append(shape)

    def default_tensors(self):
        """One for each dense feature; empty for those that are required."""
        return [self._default(*row) for row in zip(self.dense_keys, self.dense_types, self.dense_shapes)]

    def _default(self, key, dtype, shape):
        value = self.defaults.get(key)
        if shape.ndims and shape.as_list()[0] is None:  # what rows are padded with
            if value is None:
                return convert_to_tensor("" if dtype == dtypes.string else 0, dtype=dtype)
            value = convert_to_tensor(value, dtype=dtype, name="padding_" + _safe(key))
            return array_ops.reshape(value, [])
        if value is None:
            return array_ops.constant([], dtype=dtype)
        if isinstance(value, Tensor):
            return value
        return array_ops.reshape(convert_to_tensor(value, dtype=dtype, name="key_" + _safe(key)), shape)

    def tensors(self, indices, values, shapes, dense):
        """The outputs of an operation by the names of the features."""
        sparse = [SparseTensor(*parts) for parts in zip(indices, values, shapes)]
        return dict(zip(self.sparse_keys + self.dense_keys, sparse + list(dense)))


def _index_keys(feature):
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _safe(key):
    return re.sub("[^A-Za-z0-9_.\\-/]", "_", key)


def _split(outputs, *counts):
    """Consecutive parts of a flat list of outputs."""
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    parts = []
    for count in counts:
        parts.append(outputs[:count])
        outputs = outputs[count:]
    return parts


def _with_rows(features):
    """FixedLenSequenceFeatures with the unknown number of rows in front of their shapes."""
    result = dict(features)
    for key, feature in result.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            result[key] = feature._replace(shape=[None] + list(TensorShape(feature.shape).as_list()))
    return result


def _merge_sparse_features(features, tensors):
    tensors = dict(tensors)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            ids = [tensors[index_key] for index_key in _index_keys(feature)]
            merge = names.at("weir.ops.sparse_functions:sparse_merge")
            tensors[key] = merge(ids[0] if isinstance(feature.index_key, str) else ids, tensors[feature.value_key],
                                 vocab_size=feature.size, already_sorted=feature.already_sorted)
    return {key: value for key, value in tensors.items() if key in features}


_EXAMPLE_FEATURES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def _parse_batch(serialized, example_names, lists, name):
    with name_scope(name, "ParseExample", [serialized, example_names]):
        outputs = apply("ParseExample", (serialized, [] if example_names is None else example_names, lists.sparse_keys,
                                         lists.dense_keys, lists.default_tensors()),
                        {"sparse_types": lists.sparse_types, "dense_shapes": lists.dense_shapes}, name)
        return lists.tensors(*_parts(outputs, lists))


def _parts(outputs, lists):
    sparse, dense = len(lists.sparse_keys), len(lists.dense_keys)
    return _split(_flat(outputs), sparse, sparse, sparse, dense)


def _flat(outputs):
    flat = []
    for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
        flat.extend(_flat(output) if isinstance(output, (list, tuple)) else [output])
    return flat


def parse_example(serialized, features, name=None, example_names=None):
    """Tensors of the features, by name, of a vector of serialised Examples."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = _with_rows(features)
    return _merge_sparse_features(features, _parse_batch(serialized, example_names,
                                                         _Features(features, _EXAMPLE_FEATURES), name))


def parse_single_example(serialized, features, name=None, example_names=None):
    """Tensors of the features, by name, of one serialised Example."""
    if not features:
        raise ValueError("Missing features.")
    features = _with_rows(features)
    lists = _Features(features, _EXAMPLE_FEATURES)
    if example_names is None:
        tensors = _parse_one(serialized, lists, name)
    else:
        tensors = _parse_named(serialized, example_names, lists, name)
    return _merge_sparse_features(features, tensors)


def _parse_one(serialized, lists, name):
    with name_scope(name, "ParseSingleExample", [serialized]):
        serialized = convert_to_tensor(serialized, name="serialized")
        outputs = apply("ParseSingleExample", (serialized, lists.default_tensors()), {
            "num_sparse": len(lists.sparse_keys), "sparse_keys": lists.sparse_keys, "sparse_types": lists.sparse_types,
            "dense_keys": lists.dense_keys, "dense_shapes": lists.dense_shapes}, name)
        return lists.tensors(*_parts(outputs, lists))


def _parse_named(serialized, example_name, lists, name):
    """A batch of one, so that errors tell the example's name."""
    with name_scope(name, "ParseSingleExample", [serialized, example_name]):
        serialized, example_name = convert_to_tensor(serialized), convert_to_tensor(example_name)
        for what, tensor in (("serialized", serialized), ("names", example_name)):
            if tensor.shape.ndims not in (None, 0):
                raise ValueError(f"Input {what} must be a scalar")
        tensors = _parse_batch(array_ops.expand_dims(serialized, 0), array_ops.expand_dims(example_name, 0), lists, name)
        for key in lists.dense_keys:
            tensors[key] = array_ops.squeeze(tensors[key], [0], name=f"Squeeze_{_safe(key)}")
        for key in lists.sparse_keys:
            sparse = tensors[key]
            tensors[key] = SparseTensor(
                array_ops.slice(sparse.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{_safe(key)}"), sparse.values,
                array_ops.slice(sparse.dense_shape, [1], [-1], name=f"Squeeze_Shape_{_safe(key)}"))
        return tensors


def _sequence_features(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _Features(context_features, (VarLenFeature, FixedLenFeature))
    steps = _Features(sequence_features, (VarLenFeature, FixedLenSequenceFeature))
    for key, value in steps.defaults.items():
        if value is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return context, steps


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None,
                                  name=None):
    """Tensors of the features of one serialised SequenceExample: those of the whole, and those of its steps."""
    context, steps = _sequence_features(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        outputs = _flat(apply(
            "ParseSingleSequenceExample",
            (serialized, list(steps.defaults), context.sparse_keys, context.dense_keys, steps.sparse_keys,
             steps.dense_keys, context.default_tensors(), "" if example_name is None else example_name),
            {"context_sparse_types": context.sparse_types, "context_dense_shapes": context.dense_shapes,
             "feature_list_dense_types": steps.dense_types, "feature_list_sparse_types": steps.sparse_types,
             "feature_list_dense_shapes": steps.dense_shapes}, name))
        whole = 3 * len(context.sparse_keys) + len(context.dense_keys)
        return (context.tensors(*_parts(outputs[:whole], context)), steps.tensors(*_parts(outputs[whole:], steps)))


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """The same of a vector of them; the third result is the number of steps of each dense feature."""
    context, steps = _sequence_features(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        outputs = _flat(apply(
            "ParseSequenceExample", (serialized, [] if example_names is None else example_names,
                                     context.default_tensors()),
            {"Ncontext_sparse": len(context.sparse_keys), "Ncontext_dense": len(context.dense_keys),
             "Nfeature_list_sparse": len(steps.sparse_keys), "Nfeature_list_dense": len(steps.dense_keys),
             "context_sparse_keys": context.sparse_keys, "context_sparse_types": context.sparse_types,
             "context_dense_keys": context.dense_keys, "context_dense_shapes": context.dense_shapes,
             "feature_list_sparse_keys": steps.sparse_keys, "feature_list_sparse_types": steps.sparse_types,
             "feature_list_dense_keys": steps.dense_keys, "feature_list_dense_types": steps.dense_types,
             "feature_list_dense_shapes": steps.dense_shapes,
             "feature_list_dense_missing_assumed_empty": list(steps.defaults)}, name))
        whole = 3 * len(context.sparse_keys) + len(context.dense_keys)
        lengths = outputs[len(outputs) - len(steps.dense_keys):]
        return (context.tensors(*_parts(outputs[:whole], context)), steps.tensors(*_parts(outputs[whole:], steps)),
                dict(zip(steps.dense_keys, lengths)))


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="",
               select_cols=None):
    """Columns of records of comma-separated values; the defaults say their types."""
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if len(select_cols) > 0 and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    outputs = apply("DecodeCSV", (records, record_defaults),
                    {"field_delim": "," if field_delim is None else field_delim, "use_quote_delim": use_quote_delim,
                     "na_value": na_value, "select_cols": [] if select_cols is None else list(select_cols)}, name)
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings as numbers, in a new last dimension."""
    if input_bytes is None:
        input_bytes = bytes
    elif bytes is not None:
        raise ValueError("Cannot specify both 'bytes' and 'input_bytes'")
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return apply("DecodeRaw", (input_bytes,), {"out_type": dtypes.as_dtype(out_type), "little_endian":
                                               True if little_endian is None else little_endian}, name)
