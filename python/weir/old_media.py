"""What h5py, librosa, scikit-image, TensorBoard and Keras' digits, which hold what programs read, were when TensorFlow 1 was current.

Part of `weir run` (old_libraries.py installs it).
"""

import functools
import importlib
import inspect
import os

from weir.old_numpy import add_missing


def _patch_h5py(h5py):
    """Until h5py 3 attributes that were written as bytes came back as bytes, f.attrs["keras_version"].decode(), lists of
    bytes were arrays of numpy's strings, and files could be written to unless opened otherwise."""
    if int(h5py.__version__.split(".")[0]) < 3:
        return
    init = h5py.File.__init__

    @functools.wraps(init)
    def init_file(self, name, mode=None, *args, **options):
        if mode is None:
            path = os.fspath(name) if isinstance(name, (str, bytes, os.PathLike)) else None
            mode = "r" if path is None or os.path.exists(path) and not os.access(path, os.W_OK) else "a"
        init(self, name, mode, *args, **options)

    h5py.File.__init__ = init_file
    get, create = h5py.AttributeManager.__getitem__, h5py.AttributeManager.create

    @functools.wraps(get)
    def getitem(self, name):
        value = get(self, name)
        if not isinstance(value, str) and getattr(value, "dtype", None) != object:
            return value
        kind = self.get_id(name).get_type()
        if not isinstance(kind, h5py.h5t.TypeStringID) or kind.get_cset() != h5py.h5t.CSET_ASCII:
            return value
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape")
        for index, item in enumerate(value.flat):
            value.flat[index] = item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item
        return value

    @functools.wraps(create)
    def create_attribute(self, name, data, *args, **options):
        if isinstance(data, (list, tuple)) and data and all(isinstance(item, bytes) for item in data):
            import numpy

            data = numpy.asarray(data)
        return create(self, name, data, *args, **options)

    h5py.AttributeManager.__getitem__ = getitem
    h5py.AttributeManager.create = create_attribute


def _taking_positions(function):
    """The function, whose arguments had no names to be given by before librosa 0.10, called in either way."""
    parameters = inspect.signature(function).parameters.values()
    positions = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]

    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(**dict(zip(positions, args, strict=False)), **kwargs) if args else function(**kwargs)

    return call


def _patch_librosa_functions(module):
    for name, value in list(vars(module).items()):
        if not inspect.isfunction(value) or value.__module__ != module.__name__:
            continue
        kinds = [p.kind for p in inspect.signature(value).parameters.values()]
        if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
            setattr(module, name, _taking_positions(value))


def _patch_librosa_feature(feature):
    def rmse(y=None, S=None, frame_length=2048, hop_length=512, center=True, pad_mode="reflect"):
        """What is called rms since librosa 0.7."""
        return feature.rms(
            y=y, S=S, frame_length=frame_length, hop_length=hop_length, center=center, pad_mode=pad_mode
        )

    if "rmse" not in vars(feature):
        feature.rmse = rmse


def _patch_librosa(librosa):
    if "output" not in vars(librosa):
        librosa.output = importlib.import_module("librosa.output")


def fill_librosa_output(module):
    def write_wav(path, y, sr, norm=False):
        """Writes samples as they are, or with the largest at 1."""
        import numpy
        from scipy.io import wavfile

        samples = numpy.asarray(y).T
        if norm and numpy.issubdtype(samples.dtype, numpy.floating):
            samples = samples / (numpy.max(numpy.abs(samples)) or 1)
        wavfile.write(path, sr, samples)

    module.write_wav = write_wav


def _patch_skimage_warps(module):
    """Until scikit-image 0.19 masks were resized as numbers 0 and 1: resize(mask, shape, order=1)."""
    resize = module.resize

    @functools.wraps(resize)
    def resize_numbers(image, output_shape, order=None, *args, **kwargs):
        if order and getattr(image, "dtype", None) == bool:
            image = image.astype(float)
        return resize(image, output_shape, order, *args, **kwargs)

    module.resize = resize_numbers


def _patch_skimage_measure(measure):
    """What moved to skimage.metrics in 0.18; multichannel is called channel_axis since 0.19."""

    def metrics():
        return importlib.import_module("skimage.metrics")

    def compare_ssim(X, Y, *args, multichannel=False, **kwargs):
        if multichannel:
            kwargs["channel_axis"] = -1
        return metrics().structural_similarity(X, Y, *args, **kwargs)

    add_missing(measure, compare_ssim=compare_ssim,
                compare_psnr=lambda *args, **kwargs: metrics().peak_signal_noise_ratio(*args, **kwargs),
                compare_mse=lambda *args, **kwargs: metrics().mean_squared_error(*args, **kwargs),
                compare_nrmse=lambda *args, **kwargs: metrics().normalized_root_mse(*args, **kwargs))


def _patch_tensorboard_summary(summary):
    """TensorBoard 2 keeps the functions of TensorBoard 1 (scalar_pb, custom_scalar_pb, ...) one module further down."""
    from tensorboard.summary import v1

    for name in dir(v1):
        if not name.startswith("_") and not hasattr(summary, name):
            setattr(summary, name, getattr(v1, name))


def _patch_keras_mnist(mnist):
    """The digits that come with Weir, where Keras has not got its own copy: nothing is downloaded for them."""
    original = mnist.load_data

    @functools.wraps(original)
    def load_data(path="mnist.npz"):
        input_data = importlib.import_module("weir.examples.tutorials.mnist.input_data")
        own = os.path.expanduser(os.path.join("~", ".keras", "datasets", path))
        if input_data.shipped_folder() is None or os.path.exists(own):
            return original(path)

        return input_data._shipped_part("train"), input_data._shipped_part("t10k")

    mnist.load_data = load_data


PATCHES = {
    "h5py": _patch_h5py,
    "keras.datasets.mnist": _patch_keras_mnist,
    "librosa": _patch_librosa,
    "librosa.feature": _patch_librosa_feature,
    **dict.fromkeys(
        ("librosa.core.audio", "librosa.core.spectrum", "librosa.effects", "librosa.feature.spectral", "librosa.filters"),
        _patch_librosa_functions,
    ),
    "skimage.measure": _patch_skimage_measure,
    "skimage.transform": _patch_skimage_warps,
    "tensorboard.summary": _patch_tensorboard_summary,
}
