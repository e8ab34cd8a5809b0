"""Items out of tf.Example records: numbers, pictures, boxes."""

import abc

from weir import names
from weir.contrib.slim.data import data_decoder
from weir.core import dtypes
from weir.ops import array_ops, control_flow_ops, functional_ops, math_ops, sparse_functions, sparse_ops


class ItemHandler(abc.ABC):
    """Makes an item of the features with these keys."""

    def __init__(self, keys):
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    keys = property(lambda self: self._keys)

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, of ``{key: tensor}``."""


class ItemHandlerCallback(ItemHandler):
    """Calls a function of ``{key: tensor}``."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        return self._func(keys_to_tensors)


def _dense(tensor, default_value=0):
    if isinstance(tensor, sparse_ops.SparseTensor):
        return sparse_ops.sparse_tensor_to_dense(tensor, default_value)
    return tensor


class BoundingBox(ItemHandler):
    """[number of boxes, 4] of four lists of coordinates."""

    def __init__(self, keys=None, prefix=""):
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        self._prefix, self._full_keys = prefix, [prefix + key for key in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors):
        sides = [keys_to_tensors[key] for key in self._full_keys]
        sides = [side.values if isinstance(side, sparse_ops.SparseTensor) else side for side in sides]
        return array_ops.transpose(array_ops.concat([array_ops.expand_dims(side, 0) for side in sides], 0))


class Tensor(ItemHandler):
    """A feature as it is, or in a shape that is known or comes with the record."""

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        shape_keys = [shape_keys] if shape_keys and not isinstance(shape_keys, list) else shape_keys
        self._tensor_key, self._shape_keys, self._shape = tensor_key, shape_keys, shape
        self._default_value = default_value
        super().__init__([tensor_key] + (shape_keys or []))

    def tensors_to_item(self, keys_to_tensors):
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = array_ops.reshape(array_ops.stack(sizes), [-1])
        if isinstance(tensor, sparse_ops.SparseTensor):
            tensor = tensor if shape is None else sparse_functions.sparse_reshape(tensor, shape)
            return sparse_ops.sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else array_ops.reshape(tensor, shape)


class LookupTensor(Tensor):
    """What a table says of a feature."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """Another handler's item where the first one's is empty."""

    def __init__(self, handler, backup):
        for kind, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{kind} handler is of type {type(given)} instead of ItemHandler")
        self._handler, self._backup = handler, backup
        super().__init__(list(handler.keys) + list(backup.keys))

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        is_empty = math_ops.equal(math_ops.reduce_prod(array_ops.shape(item)), 0)
        return control_flow_ops.cond(is_empty, true_fn=lambda: self._backup.tensors_to_item(keys_to_tensors),
                                     false_fn=lambda: item)


class SparseTensor(ItemHandler):
    """A sparse tensor of one feature with indices and one with values."""

    def __init__(self, indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0):
        self._indices_key, self._values_key = indices_key or "indices", values_key or "values"
        self._shape_key, self._shape, self._densify = shape_key, shape, densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key] + ([shape_key] if shape_key else []))

    def tensors_to_item(self, keys_to_tensors):
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        rank = array_ops.shape(indices.indices)[1]
        ids = math_ops.cast(indices.values, dtypes.int64)
        kept = array_ops.slice(indices.indices, [0, 0], array_ops.stack([-1, rank - 1]))
        places = array_ops.concat([kept, array_ops.reshape(ids, [-1, 1])], 1)
        tensor = sparse_ops.SparseTensor(places, values.values, shape)
        return sparse_ops.sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """A picture: JPEG, PNG, GIF or raw, as a feature with the format says."""

    def __init__(self, image_key=None, format_key=None, shape=None, channels=3, dtype=dtypes.as_dtype("uint8"),
                 repeated=False, dct_method=""):
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors):
        buffer, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return functional_ops.map_fn(lambda x: self._decode(x, kind), buffer, dtype=self._dtype)
        return self._decode(buffer, kind)

    def _decode(self, buffer, kind):
        image_ops = names.find("tf.image")

        def decode_any():
            return math_ops.cast(image_ops.decode_image(buffer, channels=self._channels), self._dtype)

        def decode_jpeg():
            return math_ops.cast(image_ops.decode_jpeg(buffer, channels=self._channels, dct_method=self._dct_method),
                                 self._dtype)

        def check_jpeg():
            return control_flow_ops.cond(image_ops.is_jpeg(buffer), decode_jpeg, decode_any, name="cond_jpeg")

        is_raw = math_ops.logical_or(math_ops.equal(kind, "raw"), math_ops.equal(kind, "RAW"))
        image = control_flow_ops.case([(is_raw, lambda: names.find("tf.decode_raw")(buffer, out_type=self._dtype))],
                                      default=check_jpeg, exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else array_ops.reshape(image, self._shape)


class TFExampleDecoder(data_decoder.DataDecoder):
    """Parses a serialized tf.Example, and gives its features to the handlers of the items."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._keys_to_features, self._items_to_handlers = keys_to_features, items_to_handlers

    def list_items(self):
        return list(self._items_to_handlers)

    def decode(self, serialized_example, items=None):
        fixed = names.find("tf.FixedLenFeature")
        example = names.find("tf.parse_single_example")(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, fixed):
                example[key] = array_ops.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]
