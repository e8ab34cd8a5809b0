#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/split_common.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  c.require_rank(1, 1);
  std::optional<int64_t> value = scalar_argument(c, 2);
  std::optional<std::vector<int64_t>> sizes = c.value_as_ints(1);
  const Shape& from = c.input(0);
  int64_t pieces = c.outputs();
  if (c.input(1).has_rank() && c.input(1)[0] != kUnknown && c.input(1)[0] != pieces) {
    throw invalid_argument("{} sizes are given for {} pieces", c.input(1)[0], pieces);
  }
  if (!from.has_rank()) return;
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, Shape::unknown_dims(from.rank()));
  if (!value) return;
  int axis = InferContext::normalise_axis(*value, from.rank());
  int64_t total = from[axis];
  if (sizes) {
    int64_t sum = 0, open = -1;
    for (int64_t i = 0; i < pieces; ++i) {
      int64_t size = (*sizes)[static_cast<size_t>(i)];
      if (size < -1) throw invalid_argument("size {} of piece {} is negative", size, i);
      if (size == -1 && open >= 0) throw invalid_argument("only one size may be -1");
      if (size == -1) open = i;
      if (size >= 0) sum = checked_add(sum, size);
    }
    if (total != kUnknown && (open >= 0 ? sum > total : sum != total)) {
      throw invalid_argument("the sizes add up to {}; dimension {} of shape {} has {}", sum, axis, from.str(), total);
    }
    if (open >= 0) (*sizes)[static_cast<size_t>(open)] = total == kUnknown ? kUnknown : total - sum;
  }
  for (int i = 0; i < c.outputs(); ++i) {
    Shape to = from;
    to.set_dim(axis, sizes ? (*sizes)[static_cast<size_t>(i)] : pieces == 1 ? total : kUnknown);
    c.set_output(i, to);
  }
}

void gradient(GradContext& c) { c.set_input_grad(0, concat(all_output_grads(c), c.input(2))); }

void cpu(KernelContext& c) { compute_split(c, 0, c.scalar<int32_t>(2)); }

}  // namespace

OpDef split_v_op() {
  return {.name = "SplitV",
          .inputs = "value:T; size_splits:Tlen; split_dim:int32",
          .outputs = "output:num_split*T",
          .attrs = "num_split:int>=1; T:type; Tlen:type{int32,int64}=int64",
          .host = "size_splits, split_dim",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

std::vector<Output> split_v(const In& value, const In& sizes, const In& axis, int num, std::string_view name) {
  return ops::all_outputs(NodeBuilder("SplitV", ops::name_or(name, "split"))
                              .input(value)
                              .input(sizes)
                              .input(axis)
                              .attr("num_split", static_cast<int64_t>(num))
                              .build());
}

std::vector<Output> split(const In& value, const std::vector<int64_t>& sizes, const In& axis, std::string_view name) {
  Graph& graph = ops::graph_of({&value});
  LineScope line(graph, source_line(value.where()));
  Output lengths = graph.constant(convert_literal(Tensor(sizes), int32));
  return split_v(value, lengths, axis, static_cast<int>(sizes.size()), name);
}

}  // namespace weir
