"""tf.contrib.learn.io: data frames as arrays. What is no data frame stays as it is."""

from importlib import util as _util

from weir.estimator.inputs import pandas_input_fn  # noqa: F401

HAS_PANDAS = _util.find_spec("pandas") is not None
HAS_DASK = _util.find_spec("dask") is not None

_NUMBERS = {"int8": "int", "int16": "int", "int32": "int", "int64": "int", "uint8": "int", "uint16": "int", "uint32": "int",
            "uint64": "int", "float16": "float", "float32": "float", "float64": "float", "bool": "i"}


def _is_frame(data, *kinds):
    return type(data).__module__.partition(".")[0] == "pandas" and type(data).__name__ in kinds


def extract_pandas_data(data):
    """The numbers of a DataFrame as floats; ValueError when it holds anything else."""
    if not _is_frame(data, "DataFrame"):
        return data
    bad = [f"{name} [{dtype}]" for name, dtype in data.dtypes.items() if dtype.name not in _NUMBERS]
    if bad:
        raise ValueError("Data types for extracting pandas data must be int, float, or bool. Found: " + ", ".join(bad))
    return data.values.astype("float")


def extract_pandas_matrix(data):
    return data.values if _is_frame(data, "DataFrame") else data


def extract_pandas_labels(labels):
    """The numbers of a Series, or of a DataFrame with one column."""
    if not _is_frame(labels, "DataFrame", "Series"):
        return labels
    if _is_frame(labels, "DataFrame"):
        if len(labels.columns) > 1:
            raise ValueError("Only one column for labels is allowed.")
        bad = [f"{name} [{dtype}]" for name, dtype in labels.dtypes.items() if dtype.name not in _NUMBERS]
        if bad:
            raise ValueError("Data types for extracting labels must be int, float, or bool. Found: " + ", ".join(bad))
    return labels.values


def extract_dask_data(data):
    """The rows of a dask DataFrame or Series."""
    return _computed(data)


def extract_dask_labels(labels):
    return _computed(labels)


def _computed(data):
    return data.compute() if type(data).__module__.partition(".")[0].startswith("dask") else data
