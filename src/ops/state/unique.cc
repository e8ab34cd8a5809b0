#include <algorithm>
#include <bit>
#include <functional>
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

// What a node of a run keeps for the next one, so that it allocates nothing then. Only one run has it at a time: the
// shapes of the outputs are known to runs alone.
struct State {
  std::vector<int64_t> table;   // places of distinct elements by their hash, linear probing; -1: free
  std::vector<int64_t> firsts;  // where each distinct element stands first
  Tensor kept[3];               // outputs of the last run, with room for all elements
};

State prepare(PrepareContext& c) {
  const auto n = static_cast<size_t>(c.input(0).elements());
  State state;
  state.table.resize(std::bit_ceil(2 * n + 1));
  state.firsts.reserve(n);
  return state;
}

// A tensor of `count` elements in memory for `most`, which is that of the last run when nobody reads it any more.
Tensor output_of(Tensor& kept, DType dtype, int64_t count, int64_t most) {
  if (!kept.valid() || kept.dtype() != dtype || kept.elements() < most || !kept.buffer()->unique()) {
    kept = Tensor(dtype, Shape{most});
  }
  kept.buffer()->retain();
  return Tensor(dtype, Shape{count}, kept.buffer(), const_cast<void*>(kept.raw()));
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
    auto& [table, firsts, kept] = c.state<State>();
    std::fill(table.begin(), table.end(), -1);
    firsts.clear();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = find(table, firsts, x, i);
      if (place == static_cast<int64_t>(firsts.size())) firsts.push_back(i);
      places[i] = static_cast<Index>(place);
    }
    const auto count = static_cast<int64_t>(firsts.size());
    if (c.outputs() > 2) {
      Tensor counts = output_of(kept[2], dtype_of<Index>, count, n);
      auto* number = static_cast<Index*>(const_cast<void*>(counts.raw()));
      std::fill(number, number + count, Index{0});
      for (int64_t i = 0; i < n; ++i) ++number[places[i]];
      c.set_output(2, std::move(counts));
    }
    Tensor distinct = output_of(kept[0], dtype_of<T>, count, n);
    auto* y = static_cast<T*>(const_cast<void*>(distinct.raw()));
    for (int64_t i = 0; i < count; ++i) y[i] = x[firsts[static_cast<size_t>(i)]];
    c.set_output(0, std::move(distinct));
  }

 private:
  // The place of the element that equals x[i]; the next one, when there is none.
  template <class T>
  static int64_t find(std::vector<int64_t>& table, const std::vector<int64_t>& firsts, const T* x, int64_t i) {
    const auto value = Wide<T>(x[i]);
    // Neighbouring numbers, which have neighbouring hashes, are spread.
    size_t at = std::hash<Wide<T>>()(value) * 0x9e3779b97f4a7c15ull >> 20;
    for (;; ++at) {
      int64_t& entry = table[at & (table.size() - 1)];
      if (entry < 0) return entry = static_cast<int64_t>(firsts.size());
      if (Wide<T>(x[firsts[static_cast<size_t>(entry)]]) == value) return entry;
    }
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
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

OpDef unique_with_counts_op() {
  return {.name = "UniqueWithCounts",
          .inputs = "x:T",
          .outputs = "y:T; idx:out_idx; count:out_idx",
          .attrs = "T:type; out_idx:type{int32,int64}=int32",
          .infer = infer,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
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
