"""What parse_example needs to read features and labels."""

import weir as tf
from weir.feature_column.layers import make_parse_example_spec
from weir.feature_column.numeric import NumericColumn, numeric_column


def _spec(feature_columns, label_key, label_spec, weight_column):
    found = make_parse_example_spec(feature_columns)
    if label_key in found:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {found.keys()}")
    found[label_key] = label_spec
    if weight_column is None:
        return found
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(f"weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
                         f"{type(weight_column)} value: {weight_column}")
    if weight_column.key == label_key:
        raise ValueError(f"label_key should not be used as weight_column. label_key: {label_key}")
    found.update(weight_column._parse_example_spec)
    return found


def classifier_parse_example_spec(feature_columns, label_key, label_dtype=tf.int64, label_default=None,
                                  weight_column=None):
    return _spec(feature_columns, label_key, tf.FixedLenFeature((1,), label_dtype, label_default), weight_column)


def regressor_parse_example_spec(feature_columns, label_key, label_dtype=tf.float32, label_default=None,
                                 label_dimension=1, weight_column=None):
    return _spec(feature_columns, label_key, tf.FixedLenFeature((label_dimension,), label_dtype, label_default),
                 weight_column)
