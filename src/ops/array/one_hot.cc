#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

int new_axis(int64_t axis, int indices_rank) { return axis == -1 ? indices_rank : static_cast<int>(axis); }

void infer(InferContext& c) {
  for (int i = 1; i <= 3; ++i) c.require_scalar(i);
  int64_t axis_value = c.attr<int64_t>("axis");
  if (axis_value < -1) throw invalid_argument("axis must be -1 or more; it is {}", axis_value);
  std::optional<int64_t> depth = scalar_argument(c, 1);
  if (depth && *depth < 0) throw invalid_argument("depth must be non-negative; it is {}", *depth);
  const Shape& indices = c.input(0);
  if (!indices.has_rank()) return;
  if (axis_value > indices.rank()) throw invalid_argument("axis {} for indices of shape {}", axis_value, indices.str());
  int axis = new_axis(axis_value, indices.rank());
  Shape to;
  for (int i = 0; i <= indices.rank(); ++i) {
    if (i == axis) to.append(depth.value_or(kUnknown));
    if (i < indices.rank()) to.append(indices[i]);
  }
  c.set_output(0, to);
}

struct State {
  int64_t outer, inner;  // of the indices, before and after the new dimension
};

State prepare(PrepareContext& c) {
  const Shape& indices = c.input(0);
  int axis = new_axis(c.attr<int64_t>("axis"), indices.rank());
  return {product(indices, 0, axis), product(indices, axis, indices.rank())};
}

// An index outside [0, depth) makes a row without the on value.
struct Cpu {
  template <class Index>
  static void run(KernelContext& c) {
    const auto& [outer, inner] = c.state<State>();
    int64_t depth = c.scalar<int32_t>(1), width = inner;
    const Index* indices = c.input<Index>(0);
    if (c.output_elements() == 0) return;
    fill_elements(c.dtype(3), c.raw_output(), c.output_elements(), c.raw_input(3), c.pool());
    with_element_type(c.dtype(2), [&, rows = outer]<class T>(T) {
      const T on = c.scalar<T>(2);
      T* out = c.output<T>();
      for (int64_t o = 0; o < rows; ++o) {
        for (int64_t i = 0; i < width; ++i) {
          int64_t index = indices[o * width + i];
          if (index >= 0 && index < depth) out[(o * depth + index) * width + i] = on;
        }
      }
    });
  }
};

ComputeFn select(const NodeView& node) {
  if (node.type("T") == DType::Resource || dtype_size(node.type("T")) == 0) return nullptr;
  return detail::select_among<Cpu>(node.type("TI"), Types<uint8_t, int32_t, int64_t>{});
}

}  // namespace

OpDef one_hot_op() {
  return {.name = "OneHot",
          .inputs = "indices:TI; depth:int32; on_value:T; off_value:T",
          .outputs = "output:T",
          .attrs = "axis:int=-1; T:type; TI:type{uint8,int32,int64}=int64",
          .host = "depth",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output one_hot(const In& indices, const In& depth, const OneHotOptions& options, std::string_view name) {
  Graph& graph = ops::graph_of({&indices, &depth, &options.on_value, &options.off_value});
  LineScope line(graph, source_line(indices.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "one_hot"));
  DType dtype = options.dtype;
  for (const In* value : {&options.on_value, &options.off_value}) {
    if (dtype != DType::Invalid) break;
    if (value->output()) dtype = value->output().dtype();
    if (!value->output() && !value->weak()) dtype = value->value().dtype();
  }
  if (dtype == DType::Invalid) dtype = float32;
  Output on = ops::to_output(graph, options.on_value, "on_value", dtype);
  Output off = ops::to_output(graph, options.off_value, "off_value", dtype);
  return NodeBuilder("OneHot", scope.name())
      .input(indices)
      .input(depth)
      .input(on)
      .input(off)
      .attr("axis", options.axis)
      .output();
}

}  // namespace weir
