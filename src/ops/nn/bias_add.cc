#include "base/errors.h"
#include "devices/cpu/rows.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

int channel_dim(const AttrMap& attrs) {
  const AttrValue* format = attrs.find("data_format");
  return format && std::get<std::string>(*format) == "NCHW" ? 1 : -1;
}

void infer(InferContext& c) {
  c.require_min_rank(0, 2);
  c.require_rank(1, 1);
  Shape output = c.input(0);
  if (output.has_rank() && c.input(1).has_rank()) {
    const int channels = channel_dim(c.attrs());
    if (!Shape{output[channels]}.compatible(c.input(1))) {
      throw invalid_argument("the bias must have one entry for each channel: a value of shape {} meets a bias of {}",
                             output.str(), c.input(1).str());
    }
    if (output[channels] == kUnknown) output.set_dim(channels, c.input(1)[0]);
  }
  c.set_output(0, std::move(output));
}

void gradient(GradContext& c) {
  c.set_input_grad(0, c.output_grad());
  c.set_input_grad(1, nn::bias_add_grad(c.output_grad(), {.data_format = c.attr<std::string>("data_format")}));
}

// Of the old operation, which had no BiasAddGrad.
void gradient_v1(GradContext& c) {
  Output grad = c.output_grad();
  Output axes = range(0, rank(grad) - 1);
  c.set_input_grad(0, grad);
  c.set_input_grad(1, reduce_sum(grad, axes));
}

// The value as [outer, channels, inner].
struct State {
  int64_t channels, inner = 1;
};

State prepare(PrepareContext& c) {
  State state{c.input(1)[0]};
  if (channel_dim(c.node().attrs()) == 1) {
    for (int d = 2; d < c.input(0).rank(); ++d) state.inner *= c.input(0)[d];
  }
  return state;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto [channels, inner] = c.state<State>();
    const T *x = c.input<T>(0), *bias = c.input<T>(1);
    T* y = c.output<T>();
    if (c.output_elements() == 0) return;
    const int64_t runs = c.output_elements() / inner;  // of one channel each
    if constexpr (std::is_same_v<T, float>) {
      if (inner == 1) {
        cpu::add_bias(x, bias, y, runs / channels, channels, cpu::RowActivation::None, c.pool());
        return;
      }
    }
    c.pool().parallel_for(runs, std::max<int64_t>(1, 16384 / inner),
                          [&, n = inner, m = channels](int64_t begin, int64_t end) {
                            for (int64_t run = begin; run < end; ++run) {
                              const Wide<T> b = bias[run % m];
                              for (int64_t i = run * n; i < (run + 1) * n; ++i)
                                y[i] = static_cast<T>(wrapping_add<Wide<T>>(x[i], b));
                            }
                          });
  }
};

constexpr Kernel kKernel = {.select = kernel_for<NumberTypes, Cpu>, .prepare = prepared<prepare>, .in_place = 0b1};

}  // namespace

OpDef bias_add_op() {
  return {.name = "BiasAdd",
          .inputs = "value:T; bias:T",
          .outputs = "output:T",
          .attrs = "T:numbertype; data_format:string{NHWC,NCHW}='NHWC'",
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .role = Role::BiasAdd};
}

OpDef bias_add_v1_op() {
  return {.name = "BiasAddV1",
          .inputs = "value:T; bias:T",
          .outputs = "output:T",
          .attrs = "T:numbertype",
          .infer = infer,
          .gradient = gradient_v1,
          .cpu = kKernel,
          .role = Role::BiasAdd};
}

}  // namespace weir::ops

namespace weir::nn {

Output bias_add(const In& value, const In& bias, const BiasAddOptions& options, std::string_view name) {
  return NodeBuilder("BiasAdd", name).input(value).input(bias).attr("data_format", options.data_format).output();
}

}  // namespace weir::nn
