"""What scikit-learn had when TensorFlow 1 was current (0.16 to 0.22), beside the modules that have moved (old_scipy.py).

Part of `weir run` (old_libraries.py installs it). What still exists is left alone.
"""

import functools
import importlib
import inspect

from weir.old_matplotlib import taking
from weir.old_numpy import add_missing

# {module: {class: {argument: its name today, or None for one that has gone}}}
_ARGUMENTS = {
    "sklearn.cluster": {"KMeans": {"n_jobs": None, "precompute_distances": None}},
    "sklearn.linear_model": {
        "Perceptron": {"n_iter": "max_iter"},
        "SGDClassifier": {"n_iter": "max_iter"},
        "SGDRegressor": {"n_iter": "max_iter"},
    },
    "sklearn.manifold": {"TSNE": {"n_iter": "max_iter"}},
    "sklearn.preprocessing": {"OneHotEncoder": {"sparse": "sparse_output"}},
}


def _patch_arguments(module):
    for name, names in _ARGUMENTS[module.__name__].items():
        kind = getattr(module, name)
        taken = inspect.signature(kind.__init__).parameters
        gone = {old: new for old, new in names.items() if old not in taken and (new is None or new in taken)}
        if gone:
            kind.__init__ = taking(kind.__init__, gone)


def _patch_preprocessing(preprocessing):
    _patch_arguments(preprocessing)
    if hasattr(preprocessing, "Imputer"):
        return

    def imputer(missing_values="NaN", strategy="mean", axis=0, verbose=0, copy=True):
        """What is SimpleImputer now, which knows columns (axis 0) only."""
        if axis != 0:
            raise ValueError("Imputer(axis=1) has gone from scikit-learn: impute the transposed array")
        missing = float("nan") if missing_values == "NaN" else missing_values
        simple = importlib.import_module("sklearn.impute").SimpleImputer
        return simple(missing_values=missing, strategy=strategy, copy=copy)

    add_missing(preprocessing, Imputer=imputer)


def _patch_datasets(datasets):
    """fetch_mldata, whose server is gone. Its "MNIST original" is the digits that come with Weir."""
    found = getattr(datasets, "__getattr__", None)

    @functools.wraps(found or _patch_datasets)
    def find(name):
        if name == "fetch_mldata":
            return _fetch_mldata
        if found is None:
            raise AttributeError(f"module {datasets.__name__!r} has no attribute {name!r}")
        return found(name)

    datasets.__getattr__ = find


def _fetch_mldata(dataname, target_name="label", data_name="data", transpose_data=True, data_home=None):
    import numpy
    from sklearn.utils import Bunch

    input_data = importlib.import_module("weir.examples.tutorials.mnist.input_data")
    if dataname.lower().replace("-", " ") != "mnist original" or input_data.shipped_folder() is None:
        raise OSError(f"mldata.org, where fetch_mldata({dataname!r}) would load from, is gone; see sklearn.datasets.fetch_openml")
    parts = [input_data._shipped_part(part) for part in ("train", "t10k")]
    order = [numpy.argsort(labels, kind="stable") for _, labels in parts]  # by digit, the test images after the others
    images = numpy.concatenate([i.reshape(len(i), -1)[o] for (i, _), o in zip(parts, order, strict=True)])
    labels = numpy.concatenate([l[o] for (_, l), o in zip(parts, order, strict=True)]).astype(numpy.float64)
    return Bunch(data=images, target=labels, DESCR="mldata.org dataset: mnist-original", COL_NAMES=["label", "data"])


def fill_linear_assignment(module):
    def linear_assignment(X):
        """Pairs (row, column), an array [n, 2], by rows."""
        import numpy
        from scipy.optimize import linear_sum_assignment

        return numpy.stack(linear_sum_assignment(X), axis=1)

    module.linear_assignment = linear_assignment


PATCHES = {
    **dict.fromkeys(_ARGUMENTS, _patch_arguments),
    "sklearn.datasets": _patch_datasets,
    "sklearn.preprocessing": _patch_preprocessing,
}
