#include "devices/cpu/fft.h"

#include <cstring>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"
#include "weir/signal_ops.h"

// FFT, IFFT and their kin over one, two and three dimensions of complex numbers.
namespace weir::ops {
namespace {

template <int kRank>
void infer(InferContext& c) {
  c.require_min_rank(0, kRank);
  c.set_output(0, c.input(0));
}

// A transform for each of the innermost dimensions, the last first.
template <class T>
struct State {
  std::vector<cpu::Fft<T>> axes;
};

template <class T, int kRank>
State<T> prepare(PrepareContext& c) {
  State<T> state;
  size_t scratch = 0;
  if (c.input(0).elements() > 0) {
    for (int i = 1; i <= kRank; ++i) {
      state.axes.emplace_back(c.input(0)[-i]);
      scratch = std::max(scratch, state.axes.back().scratch_bytes(c.threads()));
    }
  }
  c.set_scratch(scratch);
  return state;
}

template <int kRank>
KernelState prepare_any(PrepareContext& c) {
  const bool wide = c.attr<DType>("Tcomplex") == complex128;
  return wide ? prepared<prepare<double, kRank>>(c) : prepared<prepare<float, kRank>>(c);
}

template <class T, bool kInverse>
void run(KernelContext& c) {
  const auto* x = c.input<std::complex<T>>(0);
  auto* y = c.output<std::complex<T>>();
  int64_t inner = 1;
  for (const cpu::Fft<T>& axis : c.state<State<T>>().axes) {
    const cpu::FftLines lines{.inner = inner, .outer = axis.size() * inner, .stride = inner};
    axis.transform(x, lines, y, lines, c.output_elements() / axis.size(), kInverse, c.scratch(), c.pool());
    x = y;
    inner *= axis.size();
  }
}

template <bool kInverse>
ComputeFn select(const NodeView& node) {
  return node.type("Tcomplex") == complex128 ? run<double, kInverse> : run<float, kInverse>;
}

Output transform(std::string_view op, const In& x, std::string_view name = {}) {
  return NodeBuilder(op, name).input(x).output();
}

// The number of elements of a transform, in the gradient's type.
Output transform_size(const Output& x, int rank, DType dtype) {
  return cast(reduce_prod(subscript(shape(x), {from(-rank)})), dtype);
}

DType real_type(DType dtype) { return dtype == complex128 ? float64 : float32; }

template <int kRank, bool kInverse>
void gradient(GradContext& c) {
  static constexpr std::string_view kForward[] = {"FFT", "FFT2D", "FFT3D"}, kBack[] = {"IFFT", "IFFT2D", "IFFT3D"};
  Output grad = c.output_grad();
  if constexpr (kInverse) {
    Output size = transform_size(grad, kRank, real_type(grad.dtype()));
    c.set_input_grad(0, transform(kForward[kRank - 1], grad) * cast(reciprocal(size), grad.dtype()));
  } else {
    c.set_input_grad(0, transform(kBack[kRank - 1], grad) * transform_size(grad, kRank, grad.dtype()));
  }
}

template <int kRank, bool kInverse>
OpDef row(std::string_view name) {
  return {.name = name,
          .inputs = "input:Tcomplex",
          .outputs = "output:Tcomplex",
          .attrs = "Tcomplex:type{complex64,complex128}=complex64",
          .infer = infer<kRank>,
          .gradient = gradient<kRank, kInverse>,
          .cpu = {.select = select<kInverse>, .prepare = prepare_any<kRank>, .in_place = 0b1}};
}

// The names of TensorFlow before 1.0.
template <int kRank, bool kInverse>
OpDef batch_row(std::string_view name) {
  return {
      .name = name,
      .inputs = "input:complex64",
      .outputs = "output:complex64",
      .flags = "deprecated@15",
      .infer = infer<kRank>,
      .cpu = {.select = kernel_any<run<float, kInverse>>, .prepare = prepared<prepare<float, kRank>>, .in_place = 0b1}};
}

}  // namespace

OpDef fft_op() { return row<1, false>("FFT"); }
OpDef fft2d_op() { return row<2, false>("FFT2D"); }
OpDef fft3d_op() { return row<3, false>("FFT3D"); }
OpDef ifft_op() { return row<1, true>("IFFT"); }
OpDef ifft2d_op() { return row<2, true>("IFFT2D"); }
OpDef ifft3d_op() { return row<3, true>("IFFT3D"); }
OpDef batch_fft_op() { return batch_row<1, false>("BatchFFT"); }
OpDef batch_fft2d_op() { return batch_row<2, false>("BatchFFT2D"); }
OpDef batch_fft3d_op() { return batch_row<3, false>("BatchFFT3D"); }
OpDef batch_ifft_op() { return batch_row<1, true>("BatchIFFT"); }
OpDef batch_ifft2d_op() { return batch_row<2, true>("BatchIFFT2D"); }
OpDef batch_ifft3d_op() { return batch_row<3, true>("BatchIFFT3D"); }

}  // namespace weir::ops

namespace weir::signal {

Output fft(const In& input, std::string_view name) { return ops::transform("FFT", input, name); }
Output ifft(const In& input, std::string_view name) { return ops::transform("IFFT", input, name); }
Output fft2d(const In& input, std::string_view name) { return ops::transform("FFT2D", input, name); }
Output ifft2d(const In& input, std::string_view name) { return ops::transform("IFFT2D", input, name); }
Output fft3d(const In& input, std::string_view name) { return ops::transform("FFT3D", input, name); }
Output ifft3d(const In& input, std::string_view name) { return ops::transform("IFFT3D", input, name); }

}  // namespace weir::signal
