"""What scipy and PyYAML had when TensorFlow 1 was current, and modules of theirs, scikit-learn and pandas that have moved.

Part of `weir run` (old_libraries.py installs it). Each table says where a name has gone; what still exists is left alone.
"""

import importlib
import sys

# Functions of a module that live in another one now.
_MOVED = {
    "scipy.misc": ("scipy.special", ("comb", "factorial", "factorial2", "factorialk", "logsumexp")),
    "scipy.signal": ("scipy.signal.windows", (
        "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "chebwin", "cosine", "exponential",
        "flattop", "gaussian", "general_gaussian", "hamming", "hann", "kaiser", "nuttall", "parzen", "triang", "tukey")),
}  # fmt: skip
_RENAMED = {
    "scipy.integrate": {"simps": "simpson", "trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid"},
    "scipy.linalg": {"pinv2": "pinv"},
}
# Modules whose names live in another module now.
MODULES = {
    "pandas.tools": None,
    "pandas.tools.plotting": "pandas.plotting",
    "scipy.linalg.decomp": "scipy.linalg",
    "scipy.ndimage.filters": "scipy.ndimage",
    "scipy.ndimage.fourier": "scipy.ndimage",
    "scipy.ndimage.interpolation": "scipy.ndimage",
    "scipy.ndimage.measurements": "scipy.ndimage",
    "scipy.ndimage.morphology": "scipy.ndimage",
    "scipy.sparse.linalg.dsolve": "scipy.sparse.linalg",
    "scipy.sparse.linalg.eigen": "scipy.sparse.linalg",
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    "scipy.sparse.linalg.interface": "scipy.sparse.linalg",
    "scipy.sparse.linalg.isolve": "scipy.sparse.linalg",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.datasets.samples_generator": "sklearn.datasets",
    "sklearn.externals": None,
    "sklearn.externals.joblib": "joblib",
    "sklearn.externals.six": "six",
    "sklearn.grid_search": "sklearn.model_selection",
    "sklearn.learning_curve": "sklearn.model_selection",
    "sklearn.metrics.classification": "sklearn.metrics",
    "sklearn.metrics.ranking": "sklearn.metrics",
    "sklearn.metrics.regression": "sklearn.metrics",
    "sklearn.metrics.scorer": "sklearn.metrics",
}


def patches():
    """{module: function that patches it once it is loaded}."""
    return {
        "json.encoder": _patch_json_encoder,
        "scipy": _patch_scipy,
        "scipy.integrate": _rename,
        "scipy.linalg": _rename,
        "scipy.signal": add_moved,
        "scipy.sparse.linalg.eigen": _patch_eigen,
        "yaml": _patch_yaml,
    }


def fill(module):
    """Makes a module that exists no more out of the one that has its names."""
    module.__path__ = []  # there may be modules below it
    target = MODULES[module.__name__]
    if target is not None:
        source = importlib.import_module(target)
        module.__getattr__ = lambda name: getattr(source, name)
        module.__all__ = [name for name in dir(source) if not name.startswith("_")]
    parent, _, child = module.__name__.rpartition(".")
    setattr(sys.modules[parent], child, module)


def add_moved(module):
    """The functions that a module has lost to another one."""
    source, names = _MOVED[module.__name__]
    source = importlib.import_module(source)
    for name in names:
        if name not in module.__dict__ and hasattr(source, name):
            setattr(module, name, getattr(source, name))


def _rename(module):
    for old, new in _RENAMED[module.__name__].items():
        if old not in module.__dict__:
            setattr(module, old, getattr(module, new))


def _patch_scipy(scipy):
    """`import scipy` used to give numpy's functions and, when any part had been loaded, scipy.misc."""
    original = scipy.__getattr__

    def find(name):
        try:
            return original(name)
        except AttributeError:
            if name == "misc":
                return importlib.import_module("scipy.misc")
            numpy = importlib.import_module("numpy")
            if name.startswith("_") or not hasattr(numpy, name):
                raise
            return getattr(numpy, name)

    scipy.__getattr__ = find


def _patch_eigen(eigen):
    """A module today, with a warning for every use; once a package with arpack in it."""
    eigen.__path__ = []


def _patch_yaml(yaml):
    """Until PyYAML 6 load() chose a loader by itself. The full one builds no arbitrary objects."""
    original = yaml.load

    def load(stream, Loader=yaml.FullLoader):
        return original(stream, Loader)

    yaml.load = load


def _patch_json_encoder(encoder):
    if not hasattr(encoder, "FLOAT_REPR"):
        encoder.FLOAT_REPR = float.__repr__  # programs set it to shorten numbers; Python 3 does not look at it
