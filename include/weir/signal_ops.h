#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "weir/export.h"
#include "weir/graph.h"

// Fourier transforms and what is made of them. Transforms go over the innermost dimensions.
namespace weir::signal {

// Of complex numbers, over the last dimension, the last two and the last three. Inverses are divided by the number of
// elements of a transform.
WEIR_API Output fft(const In& input, std::string_view name = {});
WEIR_API Output ifft(const In& input, std::string_view name = {});
WEIR_API Output fft2d(const In& input, std::string_view name = {});
WEIR_API Output ifft2d(const In& input, std::string_view name = {});
WEIR_API Output fft3d(const In& input, std::string_view name = {});
WEIR_API Output ifft3d(const In& input, std::string_view name = {});

// Of real numbers to the n / 2 + 1 complex ones that determine the rest, and back, over `rank` dimensions. `fft_length`
// has the sizes; the input is cut or filled with zeros to them. Without: the input's sizes, and for the inverse an even
// last one.
WEIR_API Output rfft(const In& input, int rank = 1, const std::optional<In>& fft_length = {},
                     std::string_view name = {});
WEIR_API Output irfft(const In& input, int rank = 1, const std::optional<In>& fft_length = {},
                      std::string_view name = {});

// Windows of `length` elements; periodic ones repeat with it, symmetric ones end as they begin.
struct WindowOptions {
  bool periodic = true;
  DType dtype = float32;
};
WEIR_API Output hann_window(Graph& graph, const In& length, const WindowOptions& options = {},
                            std::string_view name = {});
WEIR_API Output hamming_window(Graph& graph, const In& length, const WindowOptions& options = {},
                               std::string_view name = {});

// Cuts `axis` of a signal into frames of `frame_length` elements, `frame_step` apart: two dimensions take its place.
// With `pad_end` the signal is continued by pad_value until every element begins a frame that its step allows.
struct FrameOptions {
  bool pad_end = false;
  In pad_value = 0;
  int axis = -1;
};
WEIR_API Output frame(const In& signal, const In& frame_length, const In& frame_step, const FrameOptions& options = {},
                      std::string_view name = {});
// Lays frames [..., frames, frame_length] over each other, `frame_step` apart, and adds them up.
WEIR_API Output overlap_and_add(const In& signal, const In& frame_step, std::string_view name = {});

// Short-time Fourier transforms. `window` multiplies each frame: nothing for none.
struct StftOptions {
  std::optional<In> fft_length = {};  // the power of two from frame_length on, when not given
  bool hann_window = true;
  std::optional<Output> window = {};  // in place of the Hann window
  bool pad_end = false;
};
WEIR_API Output stft(const In& signals, const In& frame_length, const In& frame_step, const StftOptions& options = {},
                     std::string_view name = {});
WEIR_API Output inverse_stft(const In& stfts, const In& frame_length, const In& frame_step,
                             const StftOptions& options = {}, std::string_view name = {});
// What inverse_stft needs to undo the window of stft: forward / (sum of its squares over the frames that overlap).
WEIR_API Output inverse_stft_window(const In& forward_window, const In& frame_length, const In& frame_step,
                                    std::string_view name = {});

// Weights [spectrogram_bins, mel_bins] of triangles that are evenly spaced on the mel scale.
struct MelOptions {
  int64_t mel_bins = 20, spectrogram_bins = 129;
  double sample_rate = 8000, lower_edge_hertz = 125, upper_edge_hertz = 3800;
  DType dtype = float32;
};
WEIR_API Output linear_to_mel_weight_matrix(Graph& graph, const MelOptions& options = {}, std::string_view name = {});

// Discrete cosine transforms of types 1, 2 and 3 over the last dimension, with `n` elements of it if given.
struct DctOptions {
  int type = 2;
  std::optional<int64_t> n = {};
  bool orthonormal = false;
};
WEIR_API Output dct(const In& input, const DctOptions& options = {}, std::string_view name = {});
WEIR_API Output idct(const In& input, const DctOptions& options = {}, std::string_view name = {});
// Cepstral coefficients: the orthonormal DCT-II as HTK scales it.
WEIR_API Output mfccs_from_log_mel_spectrograms(const In& log_mel_spectrograms, std::string_view name = {});

}  // namespace weir::signal
