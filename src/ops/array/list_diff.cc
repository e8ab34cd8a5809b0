#include <unordered_set>
#include <vector>

#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/index_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  c.set_output(0, Shape::unknown_dims(1));
  c.set_output(1, Shape::unknown_dims(1));
}

template <class Index>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    std::unordered_set<Wide<T>> unwanted;
    for (int64_t i = 0; i < c.elements(1); ++i) unwanted.insert(Wide<T>(c.input<T>(1)[i]));
    std::vector<Index> places;
    for (int64_t i = 0; i < c.elements(0); ++i) {
      if (!unwanted.contains(Wide<T>(c.input<T>(0)[i]))) places.push_back(static_cast<Index>(i));
    }
    Tensor rest(dtype_of<T>, Shape{static_cast<int64_t>(places.size())});
    for (size_t i = 0; i < places.size(); ++i) rest.mutable_data<T>()[i] = c.input<T>(0)[places[i]];
    c.set_output(1, Tensor(places));
    c.set_output(0, std::move(rest));
  }
};

using HashedTypes = decltype(RealTypes{} + Types<std::string>{});

ComputeFn select(const NodeView& node) {
  return node.type("out_idx") == DType::Int32 ? kernel_for<HashedTypes, Cpu<int32_t>>(node)
                                              : kernel_for<HashedTypes, Cpu<int64_t>>(node);
}

}  // namespace

OpDef list_diff_op() {
  return {.name = "ListDiff",
          .inputs = "x:T; y:T",
          .outputs = "out:T; idx:out_idx",
          .attrs = "T:type; out_idx:type{int32,int64}=int32",
          .infer = infer,
          .cpu = {.select = select}};
}

}  // namespace weir::ops

namespace weir {

SetDifference setdiff1d(const In& x, const In& y, DType out_idx, std::string_view name) {
  Operation op = NodeBuilder("ListDiff", name).input(x).input(y).attr("out_idx", out_idx).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir
