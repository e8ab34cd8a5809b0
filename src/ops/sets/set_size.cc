#include "ops/array/array_util.h"
#include "ops/sets/groups.h"
#include "weir/set_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  const Shape shape = shape_argument(c, 2);
  if (!shape.has_rank()) return;
  if (shape.rank() < 1) throw invalid_argument("a set of shape {} has no dimension of elements", shape.str());
  c.set_output(0, Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 1))));
}

struct State {
  bool validate_indices;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("validate_indices")}; }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const SetGroups<T> groups = sparse_groups<T>(c, 0, c.state<State>().validate_indices);
    std::fill_n(c.output<int32_t>(), c.output_elements(), 0);
    for (const auto& [key, elements] : groups) {
      int64_t at = 0;
      for (size_t d = 0; d < key.size(); ++d) at = at * c.output_shape()[static_cast<int>(d)] + key[d];
      c.output<int32_t>()[at] = static_cast<int32_t>(elements.size());
    }
  }
};

}  // namespace

OpDef set_size_op() {
  return {.name = "SetSize",
          .inputs = "set_indices:int64; set_values:T; set_shape:int64",
          .outputs = "size:int32",
          .attrs = "validate_indices:bool=True; T:type{int8,int16,int32,int64,uint8,uint16,string}",
          .host = "set_shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<SetTypes, Cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::sets {

Output set_size(const nn::SparseOutput& a, bool validate_indices) {
  return NodeBuilder("SetSize")
      .input(a.indices)
      .input(a.values)
      .input(a.dense_shape)
      .attr("validate_indices", validate_indices)
      .output();
}

}  // namespace weir::sets
