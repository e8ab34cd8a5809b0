#include <algorithm>
#include <numbers>

#include "base/errors.h"
#include "nn/signal/lengths.h"
#include "weir/signal_ops.h"

// Transforms of real numbers with lengths of the program's choice, and cosine transforms, which are made of them.
namespace weir::signal {

using nn::as_output;
using nn::graph_of;

Output int_argument(Graph& g, const In& value, std::string_view name) {
  Output x = as_output(g, value, int32, name);
  if (!is_integer(x.dtype())) throw wrong_type("{} must be an integer. Got {}", name, dtype_name(x.dtype()));
  if (x.shape().has_rank() && x.shape().rank() != 0) {
    throw invalid_argument("{} must be a scalar; it has shape {}", name, x.shape().str());
  }
  return x.dtype() == int32 ? x : cast(x, int32);
}

void require_at_least(const Output& value, int64_t least, std::string_view name) {
  const auto known = known_int(value);
  if (known && *known < least) throw invalid_argument("{} must be at least {}, got {}", name, least, *known);
}

namespace {

constexpr std::string_view kForward[] = {"RFFT", "RFFT2D", "RFFT3D"}, kInverse[] = {"IRFFT", "IRFFT2D", "IRFFT3D"};
constexpr std::string_view kForwardNames[] = {"rfft", "rfft2d", "rfft3d"};
constexpr std::string_view kInverseNames[] = {"irfft", "irfft2d", "irfft3d"};

// The innermost `rank` sizes of x, if they are known.
std::optional<std::vector<int32_t>> inner_sizes(const Output& x, int rank) {
  const Shape& shape = x.shape();
  if (!shape.has_rank() || shape.rank() < rank) return std::nullopt;
  std::vector<int32_t> sizes;
  for (int i = -rank; i < 0; ++i) {
    if (shape[i] == kUnknown) return std::nullopt;
    sizes.push_back(static_cast<int32_t>(shape[i]));
  }
  return sizes;
}

Output usual_length(Graph& g, const Output& x, int rank, bool inverse) {
  if (auto sizes = inner_sizes(x, rank)) {
    if (inverse) sizes->back() = std::max(0, 2 * (sizes->back() - 1));
    return g.constant(Tensor(*sizes), "fft_length");
  }
  Output sizes = subscript(shape(x), {from(-rank)});
  if (!inverse) return sizes;
  Output last = maximum(0, 2 * (subscript(sizes, {from(-1)}) - 1));
  return rank == 1 ? last : concat({subscript(sizes, {until(-1)}), last}, 0);
}

// Zeros at the ends of the innermost dimensions, so that they have at least these sizes.
Output filled(Graph& g, const Output& x, int rank, const Output& length, bool inverse) {
  const Shape wanted = constant_value_as_shape(length);
  const auto given = inner_sizes(x, rank);
  if (given && wanted.is_known() && x.shape().has_rank()) {
    std::vector<int32_t> paddings(static_cast<size_t>(2 * x.shape().rank()), 0);
    bool any = false;
    for (int i = 0; i < rank; ++i) {
      int64_t size = wanted[i];
      if (inverse && i == rank - 1) size = size / 2 + 1;
      const auto at = static_cast<size_t>(2 * (x.shape().rank() - rank + i) + 1);
      paddings[at] = static_cast<int32_t>(std::max<int64_t>(0, size - (*given)[static_cast<size_t>(i)]));
      any = any || paddings[at] > 0;
    }
    if (!any || x.shape().elements() == 0) return x;
    return pad(x, Tensor::from<int32_t>(paddings, {x.shape().rank(), 2}));
  }
  Output sizes = length;
  if (inverse) {
    Output last = floordiv(subscript(length, {from(-1)}), 2) + 1;
    sizes = rank == 1 ? last : concat({subscript(length, {until(-1)}), last}, 0);
  }
  Output missing = maximum(0, sizes - subscript(shape(x), {from(-rank)}));
  Output outer = fill(expand_dims(weir::rank(x) - rank, 0), g.constant(0, int32));
  Output after = concat({outer, missing}, 0);
  return pad(x, stack({zeros_like(after), after}, 1));
}

Output real_transform(const In& input, int rank, const std::optional<In>& fft_length, std::string_view name,
                      bool inverse) {
  if (rank < 1 || rank > 3) throw invalid_argument("transforms are of 1, 2 or 3 dimensions, not of {}", rank);
  Graph& g = graph_of(input);
  LineScope line(g, source_line(input.where()));
  const auto at = static_cast<size_t>(rank - 1);
  Scope scope = g.name_scope(name.empty() ? (inverse ? kInverseNames : kForwardNames)[at] : name);
  Output x = input.output();
  Output length = fft_length ? as_output(g, *fft_length, int32, "fft_length") : usual_length(g, x, rank, inverse);
  if (length.dtype() != int32) length = cast(length, int32);
  x = filled(g, x, rank, length, inverse);
  return NodeBuilder((inverse ? kInverse : kForward)[at], scope.name()).input(x).input(length).output();
}

}  // namespace

Output rfft(const In& input, int rank, const std::optional<In>& fft_length, std::string_view name) {
  return real_transform(input, rank, fft_length, name, false);
}

Output irfft(const In& input, int rank, const std::optional<In>& fft_length, std::string_view name) {
  return real_transform(input, rank, fft_length, name, true);
}

namespace {

// The input with n elements in the last dimension.
Output with_length(const Output& x, int64_t n) {
  Output cut = subscript(x, {kEllipsis, until(n)});
  const Shape& shape_known = x.shape();
  if (shape_known.has_rank() && shape_known[-1] != kUnknown && shape_known[-1] >= n) return cut;
  if (!shape_known.has_rank()) throw invalid_argument("dct with n needs an input of known rank");
  Output missing = n - subscript(shape(cut), {from(-1)});
  Output after = missing;
  if (shape_known.rank() > 1)
    after = concat({Tensor(std::vector<int32_t>(static_cast<size_t>(shape_known.rank() - 1), 0)), missing}, 0);
  return pad(cut, stack({zeros_like(after), after}, 1));
}

Output last_size(Graph& g, const Output& x) {
  const Shape& known = x.shape();
  if (known.has_rank() && known.rank() > 0 && known[-1] != kUnknown) return g.constant(static_cast<int32_t>(known[-1]));
  return subscript(shape(x), {-1});
}

// 2 exp(i sign k pi / (2 n)) for k < n.
Output half_turns(Graph& g, const Output& n, double sign) {
  Output angle = cast(range(g, 0, n, 1), float32) * (sign * 0.5 * std::numbers::pi) / cast(n, float32);
  return complex(2.0 * cos(angle), 2.0 * sin(angle));
}

// [first, rest, rest, ...], n of them.
Output weights_of(Graph&, const Output& n, const Output& first, const Output& rest) {
  return concat({expand_dims(first, 0), fill(expand_dims(n - 1, 0), rest)}, 0);
}

void check(const Output& x, const DctOptions& options) {
  if (options.n && *options.n < 1) throw invalid_argument("n should be a positive integer or None");
  if (options.type < 1 || options.type > 3) throw invalid_argument("Only Types I, II and III (I)DCT are supported.");
  if (options.type != 1) return;
  if (options.orthonormal) throw invalid_argument("Normalization is not supported for the Type-I DCT.");
  if (x.shape().has_rank() && x.shape().rank() > 0 && x.shape()[-1] != kUnknown && x.shape()[-1] < 2) {
    throw invalid_argument("Type-I DCT requires the dimension to be greater than one.");
  }
}

}  // namespace

Output dct(const In& input, const DctOptions& options, std::string_view name) {
  Graph& g = graph_of(input);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? "dct" : name);
  Output x = input.output();
  check(x, options);
  if (options.n) x = with_length(x, *options.n);
  Output n = last_size(g, x), size = cast(n, float32);
  Output twice = expand_dims(2 * n, 0);
  if (options.type == 1) {
    return real(rfft(concat({x, subscript(x, {kEllipsis, between(-2, 0, -1)})}, -1)));
  }
  if (options.type == 2) {
    Output y = real(subscript(rfft(x, 1, twice), {kEllipsis, until(n)}) * half_turns(g, n, -1));
    if (!options.orthonormal) return y;
    Output first = 0.5 * rsqrt(size);
    return y * weights_of(g, n, first, first * std::numbers::sqrt2);
  }
  Output scaled =
      options.orthonormal ? x * weights_of(g, n, sqrt(size), sqrt(size) * (1 / std::numbers::sqrt2)) : x * size;
  Output y = irfft(half_turns(g, n, 1) * complex(scaled, zeros_like(scaled)), 1, twice);
  return subscript(y, {kEllipsis, until(n)});
}

Output idct(const In& input, const DctOptions& options, std::string_view name) {
  DctOptions inverse = options;
  if (options.type == 2 || options.type == 3) inverse.type = 5 - options.type;
  return dct(input, inverse, name);
}

Output mfccs_from_log_mel_spectrograms(const In& log_mel_spectrograms, std::string_view name) {
  Graph& g = graph_of(log_mel_spectrograms);
  LineScope line(g, source_line(log_mel_spectrograms.where()));
  Scope scope = g.name_scope(name.empty() ? "mfccs_from_log_mel_spectrograms" : name);
  Output x = log_mel_spectrograms.output();
  if (x.shape().has_rank() && x.shape().rank() > 0 && x.shape()[-1] == 0) {
    throw invalid_argument("num_mel_bins must be positive. Got: {}", x.shape().str());
  }
  return dct(x) * rsqrt(cast(last_size(g, x), float32) * 2.0);
}

}  // namespace weir::signal
