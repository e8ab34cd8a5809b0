#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "tensor/variant.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  Shape value = c.input(0);
  for (int i = 1; i < c.inputs(); ++i) {
    try {
      value = value.merged(c.input(i));
    } catch (const Error&) {
      throw invalid_argument("shapes of the values differ: value {} has shape {}, others {}", i, c.input(i).str(),
                             value.str());
    }
  }
  if (!value.has_rank()) return;
  int axis = packed_axis(c.attr<int64_t>("axis"), value.rank() + 1);
  Shape to;
  for (int i = 0; i <= value.rank(); ++i) {
    if (i == axis) to.append(c.inputs());
    if (i < value.rank()) to.append(value[i]);
  }
  c.set_output(0, to);
}

void gradient(GradContext& c) {
  std::vector<Output> grads = unstack(c.output_grad(), c.inputs(), c.attr<int64_t>("axis"));
  for (int i = 0; i < c.inputs(); ++i) c.set_input_grad(i, grads[static_cast<size_t>(i)]);
}

struct State {
  int64_t outer, inner;  // sizes of the parts before and after the new dimension
};

State prepare(PrepareContext& c) {
  const Shape& value = c.input(0);
  int axis = wrap_axis(c.attr<int64_t>("axis"), value.rank() + 1);
  return {product(value, 0, axis), product(value, axis, value.rank())};
}

void cpu(KernelContext& c) {
  const auto& [outer, inner] = c.state<State>();
  DType dtype = c.dtype(0);
  for (int i = 0; i < c.inputs(); ++i) {
    StridedBox box;
    box.add(outer, inner * c.inputs(), inner);
    box.add(inner, 1, 1);
    copy_box(dtype, box, offset(dtype, c.raw_output(), i * inner), c.raw_input(i), c.pool());
  }
}

void pack_variants(KernelContext& c) {
  const auto& [outer, inner] = c.state<State>();
  auto* to = static_cast<Variant*>(c.raw_output());
  for (int64_t o = 0; o < outer; ++o) {
    for (int i = 0; i < c.inputs(); ++i) to = std::copy_n(c.input<Variant>(i) + o * inner, inner, to);
  }
}

ComputeFn select(const NodeView& node) {
  return node.type(AttrT::name) == DType::Variant ? pack_variants : kernel_moving<cpu>(node);
}

// Sizes that were put together one by one.
Shape as_shape(InferContext& c) {
  if (c.attr<int64_t>("axis") != 0) return Shape::unknown();
  Shape shape;
  for (int i = 0; i < c.inputs(); ++i) {
    const auto size = c.value_as_ints(i);
    shape.append(size && size->size() == 1 ? std::max<int64_t>(size->front(), kUnknown) : kUnknown);
  }
  return shape;
}

}  // namespace

OpDef pack_op() {
  return {.name = "Pack",
          .inputs = "values:N*T",
          .outputs = "output:T",
          .attrs = "N:int>=1; T:type; axis:int=0",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .prepare = prepared<prepare>},
          .as_shape = as_shape};
}

}  // namespace weir::ops

namespace weir {

Output stack(const InList& values, int64_t axis, std::string_view name) {
  name = ops::name_or(name, "stack");
  if (axis != 0) return NodeBuilder("Pack", name).input(values).attr("axis", axis).output();
  // Along the first axis TensorFlow names constants among the values by their place: "stack/1".
  Graph& graph = ops::graph_of(values);
  DType dtype = DType::Invalid;
  for (const In& value : values.values()) {
    if (value.output()) dtype = value.output().dtype();
  }
  LineScope line(graph, source_line(values.values()[0].where()));
  Scope scope = graph.name_scope(name);
  std::vector<Output> outputs;
  for (size_t i = 0; i < values.values().size(); ++i) {
    const In& value = values.values()[i];
    std::string place = std::to_string(i);
    // A list opens a scope of its own first.
    if (!value.output() && value.value().shape().rank() > 0) graph.unique_name(place);
    outputs.push_back(ops::to_output(graph, value, place, dtype));
  }
  return NodeBuilder("Pack", scope.name()).input(outputs).output();
}

}  // namespace weir
