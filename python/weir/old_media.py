"""What h5py, librosa and TensorBoard, which hold models, sound and summaries, did when TensorFlow 1 was current.

Part of `weir run` (old_libraries.py installs it).
"""

import functools
import inspect


def _patch_h5py(h5py):
    """An attribute that was written as bytes is read as bytes, as before h5py 3: Keras decodes what it reads."""
    manager = h5py.AttributeManager
    read = manager.__getitem__

    @functools.wraps(read)
    def read_as_written(self, name):
        value = read(self, name)
        if isinstance(value, str) and h5py.check_string_dtype(self.get_id(name).dtype).encoding == "ascii":
            return value.encode()
        return value

    manager.__getitem__ = read_as_written


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
        import importlib

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


def _patch_tensorboard_summary(summary):
    """TensorBoard 2 keeps the functions of TensorBoard 1 (scalar_pb, custom_scalar_pb, ...) one module further down."""
    from tensorboard.summary import v1

    for name in dir(v1):
        if not name.startswith("_") and not hasattr(summary, name):
            setattr(summary, name, getattr(v1, name))


PATCHES = {
    "h5py": _patch_h5py,
    "librosa": _patch_librosa,
    "librosa.feature": _patch_librosa_feature,
    **dict.fromkeys(
        ("librosa.core.audio", "librosa.core.spectrum", "librosa.effects", "librosa.feature.spectral", "librosa.filters"),
        _patch_librosa_functions,
    ),
    "tensorboard.summary": _patch_tensorboard_summary,
}
