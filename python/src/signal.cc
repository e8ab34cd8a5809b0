// tf.signal: frames, windows, transforms of the program's own lengths.
#include <nanobind/stl/string.h>

#include "building.h"
#include "weir/signal_ops.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

std::optional<In> length_of(GraphObject& graph, H value) {
  if (value.is_none()) return std::nullopt;
  return to_in(graph, value, find_tensor(value) ? DType::Invalid : DType::Int32);
}
In int_of(GraphObject& graph, H value) {
  return to_in(graph, value, find_tensor(value) ? DType::Invalid : DType::Int32);
}

template <Output (*function)(Graph&, const In&, const signal::WindowOptions&, std::string_view)>
void def_window(nb::module_& m, const char* name) {
  def(m, name, [](G g, H length, H periodic, H dtype, H node) {
    return build(g, {length}, [&](G graph) {
      return wrap(function(graph, int_of(graph, length),
                           {.periodic = nb::cast<bool>(periodic), .dtype = to_dtype(dtype)}, to_name(node)));
    });
  });
}

signal::DctOptions dct_options(H type, H n, H orthonormal) {
  signal::DctOptions options{.type = to_int(type, "type"), .orthonormal = nb::cast<bool>(orthonormal)};
  if (!n.is_none()) options.n = to_int64(n, "n");
  return options;
}

}  // namespace

void bind_signal(nb::module_& m) {
  def(m, "signal_rfft", [](G g, H x, H rank, H length, H name) {
    return build(g, {x, length}, [&](G graph) {
      return wrap(signal::rfft(first_in(graph, x, "input", DType::Float32), to_int(rank, "rank"),
                               length_of(graph, length), to_name(name)));
    });
  });
  def(m, "signal_irfft", [](G g, H x, H rank, H length, H name) {
    return build(g, {x, length}, [&](G graph) {
      return wrap(signal::irfft(first_in(graph, x, "input", DType::Complex64), to_int(rank, "rank"),
                                length_of(graph, length), to_name(name)));
    });
  });
  def_window<signal::hann_window>(m, "signal_hann_window");
  def_window<signal::hamming_window>(m, "signal_hamming_window");
  def(m, "signal_frame", [](G g, H x, H length, H step, H pad_end, H pad_value, H axis, H name) {
    return build(g, {x, length, step}, [&](G graph) {
      In signal = first_in(graph, x, "signal");
      return wrap(signal::frame(signal, int_of(graph, length), int_of(graph, step),
                                {.pad_end = nb::cast<bool>(pad_end),
                                 .pad_value = to_in(graph, pad_value, signal.output().dtype()),
                                 .axis = to_int(axis, "axis")},
                                to_name(name)));
    });
  });
  def(m, "signal_overlap_and_add", [](G g, H x, H step, H name) {
    return build(g, {x, step}, [&](G graph) {
      return wrap(signal::overlap_and_add(first_in(graph, x, "signal"), int_of(graph, step), to_name(name)));
    });
  });
  // `window` is a tensor, or None for no window.
  def(m, "signal_stft", [](G g, H x, H length, H step, H fft_length, H window, H pad_end, H name) {
    return build(g, {x, length, step}, [&](G graph) {
      signal::StftOptions options{
          .fft_length = length_of(graph, fft_length), .hann_window = false, .pad_end = nb::cast<bool>(pad_end)};
      if (!window.is_none()) options.window = to_output(graph, window, DType::Invalid, "window");
      return wrap(signal::stft(first_in(graph, x, "signals", DType::Float32), int_of(graph, length),
                               int_of(graph, step), options, to_name(name)));
    });
  });
  def(m, "signal_inverse_stft", [](G g, H x, H length, H step, H fft_length, H window, H name) {
    return build(g, {x, length, step}, [&](G graph) {
      signal::StftOptions options{.fft_length = length_of(graph, fft_length), .hann_window = false};
      if (!window.is_none()) options.window = to_output(graph, window, DType::Invalid, "window");
      return wrap(signal::inverse_stft(first_in(graph, x, "stfts", DType::Complex64), int_of(graph, length),
                                       int_of(graph, step), options, to_name(name)));
    });
  });
  def(m, "signal_inverse_stft_window", [](G g, H window, H length, H step, H name) {
    return build(g, {window, length, step}, [&](G graph) {
      return wrap(signal::inverse_stft_window(first_in(graph, window, "window"), int_of(graph, length),
                                              int_of(graph, step), to_name(name)));
    });
  });
  def(m, "signal_mel", [](G g, H mel_bins, H bins, H rate, H lower, H upper, H dtype, H name) {
    return build(g, {}, [&](G graph) {
      return wrap(signal::linear_to_mel_weight_matrix(graph,
                                                      {.mel_bins = to_int64(mel_bins, "num_mel_bins"),
                                                       .spectrogram_bins = to_int64(bins, "num_spectrogram_bins"),
                                                       .sample_rate = nb::cast<double>(rate),
                                                       .lower_edge_hertz = nb::cast<double>(lower),
                                                       .upper_edge_hertz = nb::cast<double>(upper),
                                                       .dtype = to_dtype(dtype)},
                                                      to_name(name)));
    });
  });
  def(m, "signal_dct", [](G g, H x, H type, H n, H orthonormal, H name) {
    return build(g, {x}, [&](G graph) {
      return wrap(
          signal::dct(first_in(graph, x, "input", DType::Float32), dct_options(type, n, orthonormal), to_name(name)));
    });
  });
  def(m, "signal_idct", [](G g, H x, H type, H n, H orthonormal, H name) {
    return build(g, {x}, [&](G graph) {
      return wrap(
          signal::idct(first_in(graph, x, "input", DType::Float32), dct_options(type, n, orthonormal), to_name(name)));
    });
  });
  def(m, "signal_mfccs", [](G g, H x, H name) {
    return build(g, {x}, [&](G graph) {
      return wrap(signal::mfccs_from_log_mel_spectrograms(first_in(graph, x, "log_mel_spectrograms", DType::Float32),
                                                          to_name(name)));
    });
  });
}

}  // namespace weir::python
