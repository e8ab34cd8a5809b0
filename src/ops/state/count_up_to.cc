#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"
#include "weir/state_ops.h"

namespace weir::ops {
namespace {

struct State {
  int64_t limit;
};

State prepare(PrepareContext& c) { return {c.attr<int64_t>("limit")}; }

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t limit = c.state<State>().limit;
    variable_of(c, 0, dtype_of<T>).update([&](Tensor& value) {
      if (value.elements() != 1) throw invalid_argument("a counter is a scalar; its shape is {}", value.shape().str());
      T& counter = *value.mutable_data<T>();
      if (counter >= limit) throw error(Code::OutOfRange, "Reached limit of {}", limit);
      *c.output<T>() = counter++;
    });
  }
};

}  // namespace

OpDef count_up_to_op() {
  return {.name = "CountUpTo",
          .inputs = "ref:Ref(T)",
          .outputs = "output:T",
          .attrs = "limit:int; T:type{int32,int64}",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu>, .prepare = prepared<prepare>}};
}

OpDef resource_count_up_to_op() {
  return {.name = "ResourceCountUpTo",
          .inputs = "resource:resource",
          .outputs = "output:T",
          .attrs = "limit:int; T:type{int32,int64}",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output count_up_to(const Variable& variable, int64_t limit, std::string_view name) {
  return NodeBuilder("CountUpTo", name).input(variable.handle()).attr("limit", limit).output();
}

}  // namespace weir
