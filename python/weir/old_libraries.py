"""What programs of TensorFlow's time expect of Python, numpy and PIL, and later releases have taken away.

Used by `weir run` only, for the program that it runs. Each addition fills a gap: where the name still exists nothing is
changed. A module is patched when it is imported, so nothing is imported for this. docs/running-programs.md lists them.
"""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from weir import (
    notebook_display,
    old_matplotlib,
    old_media,
    old_numpy,
    old_pandas,
    old_scipy,
    old_sklearn,
    old_string_io,
)
from weir.old_numpy import add_missing as _add


def install(allow_pickle=False):
    """Patches the modules of `_PATCHES` now or when they are imported, and provides those of `_MODULES`.

    `allow_pickle` gives numpy.load back its old default of loading pickled objects, which may run any code.
    """
    patches = dict(_PATCHES)
    if allow_pickle:
        patches["numpy"] = lambda numpy: (old_numpy.patch(numpy), old_numpy.allow_pickle(numpy))
    for name in list(patches):
        if name in sys.modules:
            patches.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _PatchingFinder(patches))
    sys.meta_path.append(_ModuleFinder)


def install_python2():
    """In addition, what a Python 2 program expects of modules that still exist."""
    import pickle
    import string

    if hasattr(pickle.load, "python2"):
        return
    _patch_pickle(pickle)
    _add(sys, setdefaultencoding=lambda name: None, maxint=sys.maxsize)
    _add(string, letters=string.ascii_letters, lowercase=string.ascii_lowercase, uppercase=string.ascii_uppercase)
    _add(string, join=lambda words, sep=" ": sep.join(words), joinfields=lambda words, sep=" ": sep.join(words))
    methods = "split strip lstrip rstrip lower upper replace find rfind count index zfill ljust rjust center translate"
    _add(string, **{method: getattr(str, method) for method in methods.split()})
    _add(string, atoi=int, atof=float, atol=int)
    _MODULES.update(dict.fromkeys(("StringIO", "cStringIO"), old_string_io.fill))


class _PatchingFinder:
    """Lets the other finders find a module and patches it after it is loaded."""

    def __init__(self, patches):
        self._patches = patches

    def find_spec(self, fullname, path=None, target=None):
        patch = self._patches.pop(fullname, None)
        if patch is None:
            return None
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        spec.loader = _PatchingLoader(spec.loader, patch)
        return spec


class _PatchingLoader:
    def __init__(self, loader, patch):
        self._loader = loader
        self._patch = patch

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._patch(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _ModuleFinder:
    """The last finder: modules that exist no more."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        fill = _MODULES.get(fullname)
        return None if fill is None else ModuleSpec(fullname, _FillingLoader(fill))


class _FillingLoader:
    def __init__(self, fill):
        self._fill = fill

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        replacement = self._fill(module)
        if replacement is not None:
            sys.modules[module.__spec__.name] = replacement


# Python's own modules


def _patch_collections(collections):
    import collections.abc as abc

    _add(collections, **{name: getattr(abc, name) for name in abc.__all__})


def _patch_time(time):
    _add(time, clock=time.process_time)  # what it measured on Unix


def _patch_inspect(inspect):
    def getargspec(function):
        """The first four fields of getfullargspec."""
        spec = inspect.getfullargspec(function)
        return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)

    from collections import namedtuple

    ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")
    _add(inspect, getargspec=getargspec, ArgSpec=ArgSpec)


def _patch_itertools(itertools):
    _add(itertools, izip=zip, imap=map, ifilter=filter, izip_longest=itertools.zip_longest)
    _add(itertools, ifilterfalse=itertools.filterfalse)


def _patch_random(random):
    """Sets could be sampled until Python 3.11, and in Python 2 whatever has a length and numbers, such as numpy's arrays."""
    sample = random.sample

    def sample_any(population, k, **options):
        from collections.abc import Mapping, Sequence

        if not isinstance(population, (Sequence, Mapping)) and hasattr(population, "__len__"):
            population = list(population)
        return sample(population, k, **options)

    random.sample = sample_any


def _patch_string(string):
    def maketrans(source, target):
        return str.maketrans(source, target)

    _add(string, maketrans=maketrans)


def _patch_math_of_fractions(fractions):
    import math

    _add(fractions, gcd=math.gcd)


def _loads(*names):
    """`import urllib` is enough for urllib.request and its like: TensorFlow has loaded them when a program runs."""

    def patch(package):
        def load(name):
            if name not in names:
                raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")
            return importlib.import_module(f"{package.__name__}.{name}")

        package.__getattr__ = load

    return patch


def _patch_threading(threading):
    _add(threading.Thread, isAlive=threading.Thread.is_alive)


def _patch_html_parser(module):
    import html

    _add(module.HTMLParser, unescape=lambda self, text: html.unescape(text))


def _patch_cgi(cgi):
    import html

    _add(cgi, escape=html.escape)


def _patch_pickle(pickle):
    """Strings that Python 2 pickled come back as text; files opened as text serve."""
    load, loads, dump = pickle.load, pickle.loads, pickle.dump

    def load_python2(file, **options):
        return load(getattr(file, "buffer", file), **{"encoding": "latin1", **options})

    def loads_python2(data, **options):
        return loads(data.encode("latin1") if isinstance(data, str) else data, **{"encoding": "latin1", **options})

    def dump_python2(value, file, protocol=None, **options):
        return dump(value, getattr(file, "buffer", file), protocol, **options)

    load_python2.python2 = True  # done
    pickle.load, pickle.loads, pickle.dump = load_python2, loads_python2, dump_python2


# scipy, PIL


def _patch_pil_image(image):
    if hasattr(image, "LANCZOS"):
        _add(image, ANTIALIAS=image.LANCZOS)
    _add(image, LINEAR=image.BILINEAR, CUBIC=image.BICUBIC, fromstring=image.frombytes)
    _add(image.Image, tostring=image.Image.tobytes, fromstring=image.Image.frombytes)
    current = image.fromarray

    def fromarray(obj, mode=None):
        """An array whose type is none of PIL's, but whose mode is given, is read as bytes of that mode."""
        try:
            return current(obj) if mode is None else current(obj, mode)
        except TypeError:
            if mode is None or getattr(obj, "ndim", 0) < 2:
                raise
            data = obj.tobytes()
            return image.frombuffer(mode, (obj.shape[1], obj.shape[0]), data, "raw", mode, 0, 1)

    image.fromarray = fromarray


def _patch_pil_fonts(fonts):
    """Pillow 10 took getsize away: the width, and the height from the base line's top."""

    def getsize(self, text, *args, **options):
        left, top, right, bottom = self.getbbox(text, *args, **options)
        return right, bottom

    for name in ("FreeTypeFont", "ImageFont"):
        if hasattr(fonts, name):
            _add(getattr(fonts, name), getsize=getsize)


def _patch_scipy_misc(misc):
    """The image functions that scipy 1.2 took away, with PIL."""
    _add(
        misc,
        imread=_imread,
        imsave=_imsave,
        imresize=_imresize,
        toimage=_toimage,
        fromimage=_fromimage,
        imrotate=_imrotate,
    )
    old_scipy.add_moved(misc)


def _pil():
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("scipy.misc's image functions need PIL: pip install pillow") from None
    return Image


def _fromimage(image, flatten=False, mode=None):
    import numpy

    if mode is not None and mode != image.mode:
        image = image.convert(mode)
    elif image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    if flatten:
        image = image.convert("F")
    elif image.mode == "1":
        image = image.convert("L")
    return numpy.array(image)


def _imread(name, flatten=False, mode=None):
    with _pil().open(name) as image:
        return _fromimage(image, flatten, mode)


def _bytescale(data, cmin=None, cmax=None, high=255, low=0):
    import numpy

    if data.dtype == numpy.uint8:
        return data
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    scale = float(high - low) / (float(cmax - cmin) or 1.0)
    return (((data - cmin) * scale + low).clip(low, high) + 0.5).astype(numpy.uint8)


def _toimage(arr, high=255, low=0, cmin=None, cmax=None, pal=None, mode=None, channel_axis=None):
    """A PIL image of [height, width] or of three or four channels; floats are scaled to bytes, as scipy did."""
    import numpy

    data = numpy.asarray(arr)
    if data.ndim == 2 and mode == "F":
        return _pil().fromarray(data.astype(numpy.float32))
    if data.ndim == 3:
        axis = channel_axis
        if axis is None:
            axis = next((i for i in (2, 0, 1) if data.shape[i] in (3, 4)), None)
        if axis is None:
            raise ValueError(f"an image has three or four channels; the array has shape {data.shape}")
        data = numpy.moveaxis(data, axis, 2)
    elif data.ndim != 2:
        raise ValueError(f"an image has two or three dimensions; the array has shape {data.shape}")
    image = _pil().fromarray(numpy.ascontiguousarray(_bytescale(data, cmin, cmax, high, low)))
    return image if mode is None else image.convert(mode)


def _imsave(name, arr, format=None):
    _toimage(arr, channel_axis=2 if getattr(arr, "ndim", 0) == 3 else None).save(name, format)


def _imresize(arr, size, interp="bilinear", mode=None):
    """`size` is a percentage (int), a fraction (float) or (height, width)."""
    import numpy

    image = _toimage(arr, mode=mode)
    if isinstance(size, (int, numpy.integer)):
        size = size / 100.0
    if isinstance(size, (float, numpy.floating)):
        target = tuple(int(length * size) for length in image.size)
    else:
        target = (int(size[1]), int(size[0]))
    filters = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}
    return _fromimage(image.resize(target, resample=filters[interp]))


def _imrotate(arr, angle, interp="bilinear"):
    filters = {"nearest": 0, "bilinear": 2, "bicubic": 3, "cubic": 3}
    return _fromimage(_toimage(arr).rotate(angle, resample=filters[interp]))


_PATCHES = {
    "PIL.Image": _patch_pil_image,
    "PIL.ImageFont": _patch_pil_fonts,
    "cgi": _patch_cgi,
    "collections": _patch_collections,
    "fractions": _patch_math_of_fractions,
    "html.parser": _patch_html_parser,
    "inspect": _patch_inspect,
    "itertools": _patch_itertools,
    "multiprocessing": _loads("pool"),
    "numpy": old_numpy.patch,
    "random": _patch_random,
    "scipy.misc": _patch_scipy_misc,
    "string": _patch_string,
    "threading": _patch_threading,
    "time": _patch_time,
    "urllib": _loads("error", "parse", "request", "response", "robotparser"),
    **old_matplotlib.PATCHES,
    **old_media.PATCHES,
    **old_pandas.PATCHES,
    **old_scipy.patches(),
    **old_sklearn.PATCHES,
}


# Modules that exist no more


def _fill_scipy_misc(module):
    import scipy  # noqa: F401  (without scipy its absence is what the user should read)

    _patch_scipy_misc(module)


def _fill_imp(module):
    import importlib

    def load_source(name, pathname, file=None):
        spec = importlib.util.spec_from_file_location(name, pathname)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded
        spec.loader.exec_module(loaded)
        return loaded

    module.reload = importlib.reload
    module.load_source = load_source
    module.new_module = ModuleType


def _fill_distutils(module):
    module.__path__ = []


def _fill_distutils_version(module):
    import re

    class LooseVersion:
        """Compares versions part by part, numbers as numbers."""

        def __init__(self, vstring=""):
            self.vstring = vstring
            self.version = [int(p) if p.isdigit() else p for p in re.findall(r"\d+|[a-z]+", vstring.lower())]

        def _key(self):
            return [(1, part, "") if isinstance(part, int) else (0, 0, part) for part in self.version]

        def _other(self, other):
            return (other if isinstance(other, LooseVersion) else LooseVersion(str(other)))._key()

        def __eq__(self, other):
            return self._key() == self._other(other)

        def __lt__(self, other):
            return self._key() < self._other(other)

        def __le__(self, other):
            return self._key() <= self._other(other)

        def __gt__(self, other):
            return self._key() > self._other(other)

        def __ge__(self, other):
            return self._key() >= self._other(other)

        def __str__(self):
            return self.vstring

    module.LooseVersion = module.StrictVersion = LooseVersion


def _fill_horovod(module):
    """Where Horovod is not installed, Weir's collectives have its names."""
    module.__path__ = []
    module.__version__ = "0.21.3"  # whose names they are


def _fill_absl(module):
    module.__path__ = []


def _weir_module(name):
    def fill(module):
        return importlib.import_module(f"{__package__}.{name}")

    return fill


def _fill_input_data(module):
    """Old tutorials keep a copy of TensorFlow's input_data.py beside them."""
    return importlib.import_module(f"{__package__}.examples.tutorials.mnist.input_data")


def _fill_cifar10(module):
    """... and of the CIFAR-10 tutorial's model and input."""
    return importlib.import_module(f"{__package__}.models.image.cifar10.{module.__name__}")


def _fill_c_element_tree(module):
    import xml.etree.ElementTree

    return xml.etree.ElementTree


_MODULES = {
    "IPython": notebook_display.fill,
    "IPython.core": notebook_display.fill,
    "IPython.core.display": notebook_display.fill,
    "IPython.display": notebook_display.fill,
    "absl": _fill_absl,
    "absl.app": _weir_module("app"),
    "absl.flags": _weir_module("flags"),
    "absl.logging": _weir_module("logging"),
    "cifar10": _fill_cifar10,
    "cifar10_input": _fill_cifar10,
    "distutils": _fill_distutils,
    "distutils.version": _fill_distutils_version,
    "horovod": _fill_horovod,
    "horovod.tensorflow": _weir_module("distributed"),
    "imp": _fill_imp,
    "input_data": _fill_input_data,
    "librosa.output": old_media.fill_librosa_output,
    "scipy.misc": _fill_scipy_misc,
    "sklearn.utils.linear_assignment_": old_sklearn.fill_linear_assignment,
    "xml.etree.cElementTree": _fill_c_element_tree,
    **dict.fromkeys(old_scipy.MODULES, old_scipy.fill),
}
