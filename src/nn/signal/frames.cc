#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/errors.h"
#include "nn/signal/lengths.h"
#include "weir/signal_ops.h"

// Windows, frames, and short-time transforms.
namespace weir::signal {

using nn::as_output;
using nn::graph_of;

namespace {

Output ceil_div(const Output& a, const Output& b) { return -floordiv(-a, b); }

Output raised_cosine(Graph& g, const In& length, const WindowOptions& options, std::string_view name, double a,
                     double b) {
  if (!is_floating(options.dtype)) {
    throw invalid_argument("dtype must be a floating point type. Found {}", dtype_name(options.dtype));
  }
  Scope scope = g.name_scope(name);
  Output n = int_argument(g, length, "window_length");
  require_at_least(n, 0, "window_length");
  const double turn = 2 * std::numbers::pi;
  if (const auto known = known_int(n)) {
    if (*known > (int64_t{1} << 28)) throw invalid_argument("window_length {} is too large", *known);
    std::vector<double> values;
    const bool even = *known % 2 == 0;
    const auto period = static_cast<double>(*known + (options.periodic && even ? 1 : 0) - 1);
    for (int64_t i = 0; i < *known; ++i) {
      values.push_back(*known == 1 ? 1 : a - b * std::cos(turn * static_cast<double>(i) / period));
    }
    return cast(g.constant(Tensor(values), "window"), options.dtype);
  }
  Output even = 1 - floormod(n, 2);
  Output period = cast(options.periodic ? n + even - 1 : n - 1, options.dtype);
  Output count = cast(range(g, 0, n, 1), options.dtype);
  Output window = a - b * cos(turn * count / period);
  // One element has the period 0.
  return where_v2(equal(n, 1), ones_like(window), window);
}

}  // namespace

Output hann_window(Graph& graph, const In& length, const WindowOptions& options, std::string_view name) {
  return raised_cosine(graph, length, options, name.empty() ? "hann_window" : name, 0.5, 0.5);
}

Output hamming_window(Graph& graph, const In& length, const WindowOptions& options, std::string_view name) {
  return raised_cosine(graph, length, options, name.empty() ? "hamming_window" : name, 0.54, 0.46);
}

Output frame(const In& signal, const In& frame_length, const In& frame_step, const FrameOptions& options,
             std::string_view name) {
  Graph& g = graph_of(signal, frame_length, frame_step);
  LineScope line(g, source_line(signal.where()));
  Scope scope = g.name_scope(name.empty() ? "frame" : name);
  Output x = as_output(g, signal, float32, "signal");
  Output length = int_argument(g, frame_length, "frame_length"), step = int_argument(g, frame_step, "frame_step");
  require_at_least(length, 1, "frame_length");
  require_at_least(step, 1, "frame_step");
  const Shape known = x.shape();
  if (!known.has_rank()) throw invalid_argument("frame needs a signal of known rank");
  if (known.rank() < 1) throw invalid_argument("a signal has at least one dimension");
  if (options.axis < -known.rank() || options.axis >= known.rank()) {
    throw invalid_argument("axis {} of a signal of rank {}", options.axis, known.rank());
  }
  const int axis = options.axis < 0 ? options.axis + known.rank() : options.axis;
  auto samples_of = [&](const Output& s) {
    const int64_t size = s.shape()[axis];
    return size == kUnknown ? subscript(shape(s), {axis}) : g.constant(static_cast<int32_t>(size), "samples");
  };
  Output samples = samples_of(x), frames;
  if (options.pad_end) {
    frames = ceil_div(samples, step);
    Output missing = maximum(0, length + step * (frames - 1) - samples);
    std::vector<In> after(static_cast<size_t>(known.rank()), In(g.constant(0, int32)));
    after[static_cast<size_t>(axis)] = missing;
    Output ends = stack(after);
    Output value = as_output(g, options.pad_value, x.dtype(), "pad_value");
    x = pad(x, stack({zeros_like(ends), ends}, 1), value.dtype() == x.dtype() ? value : cast(value, x.dtype()));
  } else {
    frames = maximum(0, 1 + floordiv(samples - length, step));
  }
  // Pieces that length and step are multiples of are gathered, not elements.
  const auto known_length = known_int(length), known_step = known_int(step);
  int64_t piece = known_length && known_step ? std::gcd(*known_length, *known_step) : 1;
  const auto dims = [&](const std::vector<Output>& middle) {
    Output sizes = shape(x);
    std::vector<In> parts;
    if (axis > 0) parts.emplace_back(subscript(sizes, {until(axis)}));
    parts.emplace_back(stack(middle));
    if (axis + 1 < known.rank()) parts.emplace_back(subscript(sizes, {from(axis + 1)}));
    return concat(parts, 0);
  };
  Output size = g.constant(static_cast<int32_t>(piece), "piece");
  if (piece > 1) {
    Output pieces = floordiv(subscript(shape(x), {axis}), size);
    std::vector<Subscript> whole(static_cast<size_t>(axis), kAll);
    whole.push_back(until(pieces * size));
    x = reshape(subscript(x, whole), dims({pieces, size}));
  }
  Output first = range(g, 0, frames, 1) * floordiv(step, size), next = range(g, 0, floordiv(length, size), 1);
  Output result = gather(x, expand_dims(first, 1) + expand_dims(next, 0), axis);
  if (piece > 1) {  // [..., frames, pieces, piece, ...]
    Output sizes = shape(result);
    std::vector<In> parts;
    if (axis > 0) parts.emplace_back(subscript(sizes, {until(axis)}));
    parts.emplace_back(stack({frames, length}));
    if (axis + 1 < known.rank()) parts.emplace_back(subscript(sizes, {from(axis + 3)}));
    result = reshape(result, concat(parts, 0));
  }
  Shape said;
  for (int i = 0; i < axis; ++i) said.append(known[i]);
  const auto known_frames = known_int(frames);
  said.append(known_frames ? *known_frames : kUnknown);
  said.append(known_length ? *known_length : kUnknown);
  for (int i = axis + 1; i < known.rank(); ++i) said.append(known[i]);
  result.set_shape(said);
  return result;
}

Output overlap_and_add(const In& signal, const In& frame_step, std::string_view name) {
  Graph& g = graph_of(signal, frame_step);
  LineScope line(g, source_line(signal.where()));
  Scope scope = g.name_scope(name.empty() ? "overlap_and_add" : name);
  Output x = as_output(g, signal, float32, "signal");
  if (x.shape().has_rank() && x.shape().rank() < 2) {
    throw invalid_argument("frames have at least two dimensions; got shape {}", x.shape().str());
  }
  Output step = int_argument(g, frame_step, "frame_step");
  require_at_least(step, 1, "frame_step");
  Output sizes = shape(x), outer = subscript(sizes, {until(-2)});
  Output length = subscript(sizes, {-1}), frames = subscript(sizes, {-2});
  Output total = length + step * (frames - 1);
  auto full = [&](const std::vector<Output>& inner) { return concat({outer, stack(inner)}, 0); };
  // Frames cut into segments of a step: segment j of frame i lands at place i + j. Rows of frames + segments, laid out
  // by segment and read with one less, come to stand below each other.
  Output segments = ceil_div(length, step);
  Output zero = g.constant(0, int32);
  Output ends = concat({zeros_like(outer), stack({segments, segments * step - length})}, 0);
  Output y = reshape(pad(x, stack({zeros_like(ends), ends}, 1)), full({frames + segments, segments, step}));
  Output outer_rank = size(outer);
  Output axes = concat({range(g, zero, outer_rank, 1), stack({outer_rank + 1, outer_rank, outer_rank + 2})}, 0);
  y = reshape(transpose(y, axes), full({(frames + segments) * segments, step}));
  Output rows = frames + segments - 1;
  y = subscript(y, {kEllipsis, until(rows * segments), kAll});
  y = reduce_sum(reshape(y, full({segments, rows, step})), -3);
  return subscript(reshape(y, full({rows * step})), {kEllipsis, until(total)});
}

namespace {

// The power of two from n on.
Output enclosing_power_of_two(Graph& g, const Output& n) {
  if (const auto known = known_int(n)) {
    return g.constant(static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, *known)))));
  }
  return cast(pow(2.0f, ceil(log(cast(n, float32)) / std::numbers::ln2)), int32);
}

Output fft_length_of(Graph& g, const StftOptions& options, const Output& frame_length) {
  return options.fft_length ? int_argument(g, *options.fft_length, "fft_length")
                            : enclosing_power_of_two(g, frame_length);
}

Output windowed(Graph& g, const Output& frames, const Output& frame_length, const StftOptions& options) {
  if (options.window) return frames * *options.window;
  return options.hann_window ? frames * hann_window(g, frame_length, {.dtype = frames.dtype()}) : frames;
}

}  // namespace

Output stft(const In& signals, const In& frame_length, const In& frame_step, const StftOptions& options,
            std::string_view name) {
  Graph& g = graph_of(signals, frame_length, frame_step);
  LineScope line(g, source_line(signals.where()));
  Scope scope = g.name_scope(name.empty() ? "stft" : name);
  Output x = as_output(g, signals, float32, "signals"), length = int_argument(g, frame_length, "frame_length");
  Output frames = frame(x, length, frame_step, {.pad_end = options.pad_end});
  return rfft(windowed(g, frames, length, options), 1, expand_dims(fft_length_of(g, options, length), 0));
}

Output inverse_stft(const In& stfts, const In& frame_length, const In& frame_step, const StftOptions& options,
                    std::string_view name) {
  Graph& g = graph_of(stfts, frame_length, frame_step);
  LineScope line(g, source_line(stfts.where()));
  Scope scope = g.name_scope(name.empty() ? "inverse_stft" : name);
  Output x = as_output(g, stfts, complex64, "stfts"), length = int_argument(g, frame_length, "frame_length");
  Output frames = irfft(x, 1, expand_dims(fft_length_of(g, options, length), 0));
  frames = subscript(frames, {kEllipsis, until(length)});
  Output missing = expand_dims(maximum(0, length - subscript(shape(frames), {-1})), 0);
  Output ends = concat({zeros_like(subscript(shape(frames), {until(-1)})), missing}, 0);
  const auto known_length = known_int(length);
  const bool whole = known_length && frames.shape().has_rank() && frames.shape()[-1] == *known_length;
  if (!whole) frames = pad(frames, stack({zeros_like(ends), ends}, 1));
  if (known_length && frames.shape().has_rank()) {
    Shape said = Shape::unknown_dims(frames.shape().rank());
    said.set_dim(said.rank() - 1, *known_length);
    frames.set_shape(said);
  }
  return overlap_and_add(windowed(g, frames, length, options), frame_step);
}

Output inverse_stft_window(const In& forward_window, const In& frame_length, const In& frame_step,
                           std::string_view name) {
  Graph& g = graph_of(forward_window, frame_length, frame_step);
  LineScope line(g, source_line(forward_window.where()));
  Scope scope = g.name_scope(name.empty() ? "inverse_stft_window_fn" : name);
  Output window = forward_window.output();
  Output length = int_argument(g, frame_length, "frame_length"), step = int_argument(g, frame_step, "frame_step");
  require_at_least(step, 1, "frame_step");
  Output overlaps = ceil_div(length, step);
  Output missing = expand_dims(overlaps * step - length, 0);
  Output squares = reshape(pad(square(window), stack({zeros_like(missing), missing}, 1)), stack({overlaps, step}));
  Output sums = tile(reduce_sum(squares, {.axes = {0}, .keep_dims = true}), stack({overlaps, g.constant(1, int32)}));
  return window / subscript(reshape(sums, expand_dims(overlaps * step, 0)), {until(length)});
}

Output linear_to_mel_weight_matrix(Graph& graph, const MelOptions& o, std::string_view name) {
  if (o.mel_bins <= 0) throw invalid_argument("num_mel_bins must be positive. Got: {}", o.mel_bins);
  if (o.spectrogram_bins <= 0) {
    throw invalid_argument("num_spectrogram_bins must be positive. Got: {}", o.spectrogram_bins);
  }
  if (!(o.sample_rate > 0)) throw invalid_argument("sample_rate must be positive. Got: {}", o.sample_rate);
  if (!(o.lower_edge_hertz >= 0)) {
    throw invalid_argument("lower_edge_hertz must be non-negative. Got: {}", o.lower_edge_hertz);
  }
  if (!(o.lower_edge_hertz < o.upper_edge_hertz)) {
    throw invalid_argument("lower_edge_hertz {:.1f} >= upper_edge_hertz {:.1f}", o.lower_edge_hertz,
                           o.upper_edge_hertz);
  }
  if (o.upper_edge_hertz > o.sample_rate / 2) {
    throw invalid_argument(
        "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got: {} for sample_rate: {}",
        o.upper_edge_hertz, o.sample_rate);
  }
  if (!is_floating(o.dtype))
    throw invalid_argument("dtype must be a floating point type. Got: {}", dtype_name(o.dtype));
  if (checked_multiply(o.mel_bins, o.spectrogram_bins) > (int64_t{1} << 28)) {
    throw invalid_argument("a matrix of {} x {} weights is too large", o.spectrogram_bins, o.mel_bins);
  }
  const auto to_mel = [](double hertz) { return 1127.0 * std::log(1 + hertz / 700.0); };
  const double low = to_mel(o.lower_edge_hertz),
               step = (to_mel(o.upper_edge_hertz) - low) / static_cast<double>(o.mel_bins + 1);
  Tensor weights = Tensor::zeros(float64, {o.spectrogram_bins, o.mel_bins});
  for (int64_t i = 1; i < o.spectrogram_bins; ++i) {  // the constant part, bin 0, counts nowhere
    const double mel = to_mel(o.sample_rate / 2 * static_cast<double>(i) / static_cast<double>(o.spectrogram_bins - 1));
    for (int64_t j = 0; j < o.mel_bins; ++j) {
      const double rise = (mel - low) / step - static_cast<double>(j), fall = 2 - rise;
      weights.mutable_data<double>()[i * o.mel_bins + j] = std::max(0.0, std::min(rise, fall));
    }
  }
  Scope scope = graph.name_scope(name.empty() ? "linear_to_mel_weight_matrix" : name);
  return cast(graph.constant(weights, "weights"), o.dtype);
}

}  // namespace weir::signal
