"""Columns as dictionaries of what JSON can hold, and back."""

from weir.core import dtypes
from weir.ops import init_ops

_CLASSES = {}  # Weir's own, by name; columns of the program are custom objects
_column = ()  # the class of all columns, which stands on this module


def add_class(kind):
    """Columns of this class can be read back. The first one is the class of all."""
    global _column
    _column = _column or kind
    _CLASSES[kind.__name__] = kind


def _is_column(value):
    return isinstance(value, _column)


def serialize_feature_column(fc):
    """{"class_name": ..., "config": ...}; the name of a feature as it is."""
    if isinstance(fc, str):
        return fc
    if _is_column(fc):
        return {"class_name": type(fc).__name__, "config": fc._get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(config, custom_objects=None, columns_by_name=None):
    """The column; one that ``columns_by_name`` has already is taken from there."""
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    kind = (custom_objects or {}).get(config["class_name"], _CLASSES.get(config["class_name"]))
    if kind is None:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}")
    made = kind._from_config(config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name)
    if columns_by_name is None:
        return made
    return columns_by_name.setdefault(_column_name_with_class_name(made), made)


def _column_name_with_class_name(fc):
    return f"{type(fc).__name__}:{fc.name}"


def serialize_feature_columns(feature_columns):
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(configs, custom_objects=None):
    """Columns; those that several are made of are made once."""
    made = {}
    return [deserialize_feature_column(config, custom_objects, made) for config in configs]


def described(value):
    """A field of a column."""
    if _is_column(value):
        return serialize_feature_column(value)
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, tuple) and any(_is_column(part) for part in value):
        return tuple(serialize_feature_column(part) for part in value)
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if callable(value):
        return value.__name__
    return value


def field(name, value, custom_objects, columns_by_name):
    """A field of a column from what describes it."""
    if name in ("categorical_column", "source_column"):
        return deserialize_feature_column(value, custom_objects, columns_by_name)
    if name == "keys":
        return tuple(deserialize_feature_column(part, custom_objects, columns_by_name) for part in value)
    if name == "dtype":
        return dtypes.as_dtype(value)
    if name == "normalizer_fn" and isinstance(value, str):
        if value not in (custom_objects or {}):
            raise ValueError(f"Unknown function: {value}")
        return custom_objects[value]
    if name == "initializer" and isinstance(value, str):
        return custom_objects[value]
    if name == "initializer" and isinstance(value, dict):
        kind = (custom_objects or {}).get(value["class_name"]) or getattr(init_ops, value["class_name"])
        return kind.from_config(value["config"])
    return tuple(value) if isinstance(value, list) else value
