#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/random/generator.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.require_scalar(2);
  c.set_output(0, shape_argument(c, 0));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    T low = c.scalar<T>(1), high = c.scalar<T>(2);
    int64_t n = c.output_elements();
    if (n == 0) return;
    if (low >= high) throw invalid_argument("Need minval < maxval, got {} >= {}", low, high);
    cpu::fill_uniform_int(c.state<GeneratorRef>().generator->philox.reserve_outputs(n), low, high, c.output<T>(), n,
                          c.pool());
  }
};

struct AttrTout {
  static constexpr std::string_view name = "Tout";
};

}  // namespace

OpDef random_uniform_int_op() {
  return {
      .name = "RandomUniformInt",
      .inputs = "shape:T; minval:Tout; maxval:Tout",
      .outputs = "output:Tout",
      .attrs = "seed:int=0; seed2:int=0; Tout:type{int32,int64}; T:type{int32,int64}",
      .flags = "stateful",
      .host = "shape, minval, maxval",
      .infer = infer,
      .gradient = not_differentiable,
      .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu, AttrTout>, .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops
