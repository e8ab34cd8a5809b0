#include <cstring>
#include <numbers>

#include "base/errors.h"
#include "devices/cpu/fft.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"
#include "weir/signal_ops.h"

// RFFT and IRFFT over one, two and three dimensions: real numbers on one side, and the half of the complex ones that is
// not the mirror of the other on the other side.
namespace weir::ops {
namespace {

using Complex = std::complex<float>;

// Sizes of the complex side are sizes of the real side, but for the last.
int64_t half_of(int64_t n) { return n == 0 ? 0 : n / 2 + 1; }

template <int kRank, bool kForward>
void infer(InferContext& c) {
  c.require_min_rank(0, kRank);
  const Shape& length = c.input(1);
  if (length.has_rank() && (length.rank() != 1 || (length[0] != kUnknown && length[0] != kRank))) {
    throw invalid_argument("fft_length must have shape [{}]", kRank);
  }
  Shape to = c.input(0);
  if (!to.has_rank()) return;
  const auto sizes = c.value_as_ints(1);
  for (int i = 0; i < kRank; ++i) {
    const int at = to.rank() - kRank + i;
    if (!sizes) {
      to.set_dim(at, kUnknown);
      continue;
    }
    const int64_t size = sizes->at(static_cast<size_t>(i));
    if (size < 0) throw invalid_argument("fft_length[{}] must be >= 0, but got: {}", i, size);
    const bool innermost = i == kRank - 1;
    const int64_t least = !kForward && innermost ? size / 2 + 1 : size, given = to[at];
    if (given != kUnknown && given != 0 && given < least) {
      throw invalid_argument("Input dimension {} must have length of at least {} but got: {}", at, least, given);
    }
    to.set_dim(at, kForward && innermost ? half_of(size) : size);
  }
  c.set_output(0, to);
}

struct State {
  std::vector<cpu::Fft<float>> axes;  // the last first
  std::vector<cpu::Fft<float>> odd;   // forward: the last, if fft_length is odd
  size_t fft_scratch = 0;
  int64_t batch = 1;
};

// The real sizes are those of the output of an inverse. Forward, the last one follows from the value of fft_length, an
// even and an odd one have as many results, and so both are made ready.
template <int kRank, bool kForward>
State prepare(PrepareContext& c) {
  State state;
  const Shape& out = c.output();
  if (!out.is_known() || out.elements() == 0 || c.input(0).elements() == 0) return state;
  for (int i = 1; i <= kRank; ++i) {
    if (i == 1 && kForward) {
      const int64_t even = 2 * (out[-1] - 1);
      state.axes.push_back(cpu::Fft<float>::of_real(std::max<int64_t>(1, even)));
      state.odd.push_back(cpu::Fft<float>::of_real(even + 1));
      state.fft_scratch = state.odd.back().scratch_bytes(c.threads());
    } else {
      state.axes.push_back(i == 1 ? cpu::Fft<float>::of_real(out[-1]) : cpu::Fft<float>(out[-i]));
    }
    state.fft_scratch = std::max(state.fft_scratch, state.axes.back().scratch_bytes(c.threads()));
  }
  state.batch = product(out, 0, out.rank() - kRank);
  size_t scratch = state.fft_scratch;
  if (!kForward && kRank > 1) {
    int64_t elements = state.batch * half_of(out[-1]);
    for (int i = 2; i <= kRank; ++i) elements = checked_multiply(elements, out[-i]);
    scratch += static_cast<size_t>(elements) * sizeof(Complex);
  }
  c.set_scratch(scratch);
  return state;
}

// Calls body(first element of the input, first element of the output, lines) for runs of lines that follow each other
// at equal distances on both sides; `sizes` says how many there are in each dimension but the last.
template <int kRank, class Body>
void for_each_run(const Shape& x, const int64_t* sizes, int64_t batch, int64_t x_last, int64_t y_last,
                  const Body& body) {
  if constexpr (kRank == 1) {
    body(0, 0, batch);
  } else {
    const int64_t x_rows = x[-2], rows = sizes[kRank - 2];
    const int64_t x_planes = kRank == 3 ? x[-3] : 1, planes = kRank == 3 ? sizes[0] : 1;
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t p = 0; p < planes; ++p) {
        body(((b * x_planes + p) * x_rows) * x_last, ((b * planes + p) * rows) * y_last, rows);
      }
    }
  }
}

// Transforms along all dimensions but the last of [batch, sizes..., last].
template <int kRank>
void transform_outer(const State& state, Complex* data, int64_t last, int64_t elements, bool inverse, void* scratch,
                     ThreadPool& pool) {
  int64_t inner = last;
  for (int i = 1; i < kRank; ++i) {
    const cpu::Fft<float>& axis = state.axes[static_cast<size_t>(i)];
    const cpu::FftLines lines{.inner = inner, .outer = axis.size() * inner, .stride = inner};
    axis.transform(data, lines, data, lines, elements / axis.size(), inverse, scratch, pool);
    inner *= axis.size();
  }
}

template <int kRank>
void forward_cpu(KernelContext& c) {
  State& state = c.state<State>();
  const Shape &x = c.shape(0), &y = c.output_shape();
  auto* to = c.output<Complex>();
  const int32_t* length = c.input<int32_t>(1);
  if (c.elements(0) == 0) {
    std::memset(static_cast<void*>(to), 0, static_cast<size_t>(c.output_elements()) * sizeof(Complex));
    return;
  }
  const int64_t n = length[kRank - 1];
  const cpu::Fft<float>& last = n % 2 == 0 ? state.axes[0] : state.odd[0];
  int64_t sizes[3];
  for (int i = 0; i < kRank; ++i) sizes[i] = length[i];
  for_each_run<kRank>(x, sizes, state.batch, x[-1], y[-1], [&](int64_t from, int64_t at, int64_t lines) {
    last.forward_real(c.input<float>(0) + from, x[-1], to + at, y[-1], lines, c.scratch(), c.pool());
  });
  transform_outer<kRank>(state, to, y[-1], c.output_elements(), false, c.scratch(), c.pool());
}

template <int kRank>
void inverse_cpu(KernelContext& c) {
  State& state = c.state<State>();
  const Shape &x = c.shape(0), &y = c.output_shape();
  const auto* from = c.input<Complex>(0);
  auto* to = c.output<float>();
  if (c.elements(0) == 0) {
    std::memset(to, 0, static_cast<size_t>(c.output_elements()) * sizeof(float));
    return;
  }
  const cpu::Fft<float>& last = state.axes[0];
  if constexpr (kRank == 1) {
    last.inverse_real(from, x[-1], to, y[-1], state.batch, c.scratch(), c.pool());
  } else {
    const int64_t half = half_of(y[-1]);
    auto* part = reinterpret_cast<Complex*>(static_cast<char*>(c.scratch()) + state.fft_scratch);
    int64_t sizes[3], lines = state.batch;
    for (int i = 0; i < kRank; ++i) sizes[i] = y[i - kRank];
    for (int i = 0; i < kRank - 1; ++i) lines *= sizes[i];
    for_each_run<kRank>(x, sizes, state.batch, x[-1], half, [&](int64_t first, int64_t at, int64_t rows) {
      for (int64_t r = 0; r < rows; ++r) std::copy_n(from + first + r * x[-1], half, part + at + r * half);
    });
    transform_outer<kRank>(state, part, half, lines * half, true, c.scratch(), c.pool());
    last.inverse_real(part, half, to, y[-1], lines, c.scratch(), c.pool());
  }
}

Output node(std::string_view op, const Output& x, const Output& length) {
  return NodeBuilder(op).input(x).input(length).output();
}

Output size_of(const Output& x, int rank) { return cast(reduce_prod(subscript(shape(x), {from(-rank)})), float32); }

// 1, -1, 1, -1, ...
Output alternating(Graph& g, const Output& length) {
  return cast(1 - 2 * floormod(range(g, 0, length, 1), 2), complex64);
}

// exp(-2 pi i j k / length) for j and k below it.
Output roots_matrix(Graph& g, const Output& length) {
  Output a = expand_dims(cast(range(g, 0, length, 1), float32), 0);
  Output angle = -2.0 * std::numbers::pi * (transpose(a) * a) / cast(length, float32);
  return complex(cos(angle), sin(angle));
}

// The complex half of a transform stands for the other half too, but for its first column and, if there is one, the
// middle: the inverse of the gradient counts those once, all others twice.
template <int kRank>
void forward_gradient(GradContext& c) {
  Graph& g = c.graph();
  Output grad = c.output_grad(), length = c.input(1), x_shape = shape(c.input(0));
  Output is_even = cast(1 - floormod(subscript(length, {-1}), 2), complex64);
  Output first = subscript(grad, {kEllipsis, until(1)}), middle = subscript(grad, {kEllipsis, from(-1)});
  Output extra;
  if constexpr (kRank == 1) {
    extra = first + is_even * middle * alternating(g, subscript(x_shape, {-1}));
  } else {
    Output roots = roots_matrix(g, subscript(x_shape, {-2}));
    auto product = [&](const Output& column) {
      return NodeBuilder("BatchMatMulV2").input(roots).input(conj(column)).output();
    };
    extra = product(first) + is_even * product(middle) * alternating(g, subscript(x_shape, {-1}));
  }
  Output back = node(kRank == 1 ? "IRFFT" : "IRFFT2D", grad, length);
  c.set_input_grad(0, 0.5 * (back * size_of(c.input(0), kRank) + real(extra)));
}

// Each element of the half counts twice in the real numbers, but for the first and the middle.
template <int kRank>
void inverse_gradient(GradContext& c) {
  Graph& g = c.graph();
  Output grad = c.output_grad(), length = c.input(1);
  Output is_odd = floormod(subscript(length, {-1}), 2);
  Output last = subscript(shape(c.input(0)), {-1});
  Output twos = fill(expand_dims(last - 2 + is_odd, 0), g.constant(2.0f));
  Output ones = fill(expand_dims(1 - is_odd, 0), g.constant(1.0f));
  Output mask = concat({g.constant(Tensor(std::vector<float>{1})), twos, ones}, 0);
  Output forward = node(kRank == 1 ? "RFFT" : "RFFT2D", grad, length);
  c.set_input_grad(0, forward * cast(mask / size_of(grad, kRank), complex64));
}

template <int kRank>
OpDef forward_row(std::string_view name, void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "input:float; fft_length:int32",
          .outputs = "output:complex64",
          .host = "fft_length",
          .infer = infer<kRank, true>,
          .gradient = gradient,
          .cpu = {.select = kernel_any<forward_cpu<kRank>>, .prepare = prepared<prepare<kRank, true>>}};
}

template <int kRank>
OpDef inverse_row(std::string_view name, void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "input:complex64; fft_length:int32",
          .outputs = "output:float",
          .host = "fft_length",
          .infer = infer<kRank, false>,
          .gradient = gradient,
          .cpu = {.select = kernel_any<inverse_cpu<kRank>>, .prepare = prepared<prepare<kRank, false>>}};
}

}  // namespace

OpDef rfft_op() { return forward_row<1>("RFFT", forward_gradient<1>); }
OpDef rfft2d_op() { return forward_row<2>("RFFT2D", forward_gradient<2>); }
OpDef rfft3d_op() { return forward_row<3>("RFFT3D", nullptr); }
OpDef irfft_op() { return inverse_row<1>("IRFFT", inverse_gradient<1>); }
OpDef irfft2d_op() { return inverse_row<2>("IRFFT2D", inverse_gradient<2>); }
OpDef irfft3d_op() { return inverse_row<3>("IRFFT3D", nullptr); }

}  // namespace weir::ops
