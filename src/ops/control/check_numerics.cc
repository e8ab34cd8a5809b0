#include <cmath>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient. ";
  c.set_input_grad(0, check_numerics(c.output_grad(), message + c.attr<std::string>("message")));
}

struct State {
  std::string message;
};
State prepare(PrepareContext& c) { return {c.attr<std::string>("message")}; }

template <class T>
[[noreturn]] void complain(const KernelContext& c) {
  const T* x = c.input<T>(0);
  bool nan = false, inf = false;
  for (int64_t i = 0; i < c.elements(0); ++i) {
    nan |= std::isnan(static_cast<double>(x[i]));
    inf |= std::isinf(static_cast<double>(x[i]));
  }
  throw invalid_argument("{} : Tensor had {} values", c.state<State>().message,
                         nan && inf ? "Inf and NaN"
                         : nan      ? "NaN"
                                    : "Inf");
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const T* x = c.input<T>(0);
    c.pool().parallel_for(c.elements(0), 65536, [&](int64_t begin, int64_t end) {
      // x - x is 0 unless x is infinite or no number; sums of it stay 0.
      double sum = 0;
      for (int64_t i = begin; i < end; ++i) sum += static_cast<double>(x[i] - x[i]);
      if (sum != 0) complain<T>(c);
    });
    if (c.raw_output() != c.raw_input(0)) {
      copy_elements(dtype_of<T>, c.raw_output(), x, c.elements(0), c.pool());
    }
  }
};

}  // namespace

OpDef check_numerics_op() {
  return {.name = "CheckNumerics",
          .inputs = "tensor:T",
          .outputs = "output:T",
          .attrs = "T:type{bfloat16,half,float,double}; message:string",
          .flags = "stateful",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>, .in_place = 0b1},
          .effect = Effect::Checks};
}

}  // namespace weir::ops

namespace weir {

Output check_numerics(const In& tensor, std::string_view message, std::string_view name) {
  return NodeBuilder("CheckNumerics", name).input(tensor).attr("message", std::string(message)).output();
}

}  // namespace weir
