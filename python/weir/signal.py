"""Fourier and cosine transforms, frames, windows, mel scales."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_util import constant_value as _constant_value
from weir.ops import array_ops, simple

simple.install(globals(), {
    "fft": "FFT", "ifft": "IFFT", "fft2d": "FFT2D", "ifft2d": "IFFT2D", "fft3d": "FFT3D", "ifft3d": "IFFT3D",
})


def rfft(input_tensor, fft_length=None, name=None):
    return _weir.signal_rfft(_graph(), input_tensor, 1, fft_length, name)


def rfft2d(input_tensor, fft_length=None, name=None):
    return _weir.signal_rfft(_graph(), input_tensor, 2, fft_length, name)


def rfft3d(input_tensor, fft_length=None, name=None):
    return _weir.signal_rfft(_graph(), input_tensor, 3, fft_length, name)


def irfft(input_tensor, fft_length=None, name=None):
    return _weir.signal_irfft(_graph(), input_tensor, 1, fft_length, name)


def irfft2d(input_tensor, fft_length=None, name=None):
    return _weir.signal_irfft(_graph(), input_tensor, 2, fft_length, name)


def irfft3d(input_tensor, fft_length=None, name=None):
    return _weir.signal_irfft(_graph(), input_tensor, 3, fft_length, name)


def _shifted(x, axes, name, usual, sign):
    x = convert_to_tensor(x)
    if axes is None:
        axes = list(range(x.shape.ndims))
    single = isinstance(axes, int)
    shift = [sign * (int(x.shape[axis]) // 2) for axis in ([axes] if single else axes)]
    return array_ops.roll(x, shift[0] if single else shift, axes if single else list(axes), name or usual)


def fftshift(x, axes=None, name=None):
    """The zero frequency moved to the middle."""
    return _shifted(x, axes, name, "fftshift", 1)


def ifftshift(x, axes=None, name=None):
    return _shifted(x, axes, name, "ifftshift", -1)


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    return _weir.signal_hann_window(_graph(), window_length, bool(periodic), dtypes.as_dtype(dtype), name)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    return _weir.signal_hamming_window(_graph(), window_length, bool(periodic), dtypes.as_dtype(dtype), name)


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """``axis`` of a signal cut into frames of ``frame_length`` elements, ``frame_step`` apart."""
    return _weir.signal_frame(_graph(), signal, frame_length, frame_step, bool(pad_end), pad_value, int(axis), name)


def overlap_and_add(signal, frame_step, name=None):
    return _weir.signal_overlap_and_add(_graph(), signal, frame_step, name)


def _window(window_fn, frame_length, dtype):
    return None if window_fn is None else window_fn(frame_length, dtype=dtype)


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """Short-time Fourier transforms: one for each frame of the signals."""
    signals = convert_to_tensor(signals, dtype=None if isinstance(signals, Tensor) else dtypes.float32, name="signals")
    window = _window(window_fn, frame_length, signals.dtype.base_dtype)
    return _weir.signal_stft(_graph(), signals, frame_length, frame_step, fft_length, window, bool(pad_end), name)


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    window = _window(window_fn, frame_length, dtypes.float32)
    return _weir.signal_inverse_stft(_graph(), stfts, frame_length, frame_step, fft_length, window, name)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window for ``inverse_stft`` that undoes ``forward_window_fn``."""
    def window_fn(frame_length, dtype):
        return _weir.signal_inverse_stft_window(_graph(), forward_window_fn(frame_length, dtype=dtype), frame_length,
                                                frame_step, name)

    return window_fn


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32, name=None):
    if isinstance(sample_rate, Tensor):
        sample_rate = _constant_value(sample_rate)
        if sample_rate is None:
            raise ValueError("`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor.")
    return _weir.signal_mel(_graph(), int(num_mel_bins), int(num_spectrogram_bins), float(sample_rate),
                            float(lower_edge_hertz), float(upper_edge_hertz), dtypes.as_dtype(dtype), name)


def _check_dct(axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    _check_dct(axis, norm)
    return _weir.signal_dct(_graph(), input, type, n, norm == "ortho", name)


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    _check_dct(axis, norm)
    return _weir.signal_idct(_graph(), input, type, n, norm == "ortho", name)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    return _weir.signal_mfccs(_graph(), log_mel_spectrograms, name)
