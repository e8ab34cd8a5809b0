#include <unordered_map>
#include <vector>

#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/index_ops.h"

// Stands here because the optimizers' sparse updates sum rows of equal indices with it.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.set_output(0, Shape::unknown_dims(1));
  c.set_output(1, c.input(0).merged(Shape::unknown_dims(1)));
  if (c.outputs() > 2) c.set_output(2, Shape::unknown_dims(1));
}

// Distinct elements in the order in which they first appear, for every element the place of its equal, and, where the
// node has that output, how often each occurs.
template <class Index>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const T* x = c.input<T>(0);
    Index* places = c.output<Index>(1);
    const int64_t n = c.elements(0);
    std::unordered_map<Wide<T>, Index> seen;
    std::vector<int64_t> firsts;
    for (int64_t i = 0; i < n; ++i) {
      auto [at, is_new] = seen.try_emplace(Wide<T>(x[i]), static_cast<Index>(firsts.size()));
      if (is_new) firsts.push_back(i);
      places[i] = at->second;
    }
    if (c.outputs() > 2) {
      std::vector<Index> counts(firsts.size(), 0);
      for (int64_t i = 0; i < n; ++i) ++counts[static_cast<size_t>(places[i])];
      c.set_output(2, Tensor(counts));
    }
    Tensor distinct(dtype_of<T>, Shape{static_cast<int64_t>(firsts.size())});
    for (size_t i = 0; i < firsts.size(); ++i) distinct.mutable_data<T>()[i] = x[firsts[i]];
    c.set_output(0, std::move(distinct));
  }
};

using HashedTypes = decltype(RealTypes{} + Types<bool, std::string>{});

ComputeFn select(const NodeView& node) {
  return node.type("out_idx") == DType::Int32 ? kernel_for<HashedTypes, Cpu<int32_t>>(node)
                                              : kernel_for<HashedTypes, Cpu<int64_t>>(node);
}

}  // namespace

OpDef unique_op() {
  return {.name = "Unique",
          .inputs = "x:T",
          .outputs = "y:T; idx:out_idx",
          .attrs = "T:type; out_idx:type{int32,int64}=int32",
          .infer = infer,
          .cpu = {.select = select}};
}

OpDef unique_with_counts_op() {
  return {.name = "UniqueWithCounts",
          .inputs = "x:T",
          .outputs = "y:T; idx:out_idx; count:out_idx",
          .attrs = "T:type; out_idx:type{int32,int64}=int32",
          .infer = infer,
          .cpu = {.select = select}};
}

}  // namespace weir::ops

namespace weir {

Unique unique(const In& x, DType out_idx, std::string_view name) {
  Operation op = NodeBuilder("Unique", name).input(x).attr("out_idx", out_idx).build();
  return {op.output(0), op.output(1)};
}

UniqueWithCounts unique_with_counts(const In& x, DType out_idx, std::string_view name) {
  Operation op = NodeBuilder("UniqueWithCounts", name).input(x).attr("out_idx", out_idx).build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir
