#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"

// Distinct slices along an axis, in the order in which they first appear.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(1, 1);
  const Shape& x = c.input(0);
  if (c.input(1).has_rank() && c.input(1)[0] != kUnknown && c.input(1)[0] > 1) {
    throw invalid_argument("axis does not support input tensors larger than 1 elements");
  }
  c.set_output(1, Shape::unknown_dims(1));
  if (c.outputs() > 2) c.set_output(2, Shape::unknown_dims(1));
  if (!x.has_rank()) return;
  const auto axis = c.value_as_ints(1);
  if (!axis) return c.set_output(0, Shape::unknown_dims(x.rank()));
  if (axis->empty() && x.rank() != 1) throw invalid_argument("unique expects a 1D vector.");
  const int64_t given = axis->empty() ? 0 : axis->front();
  if (given < -x.rank() || given >= x.rank()) throw invalid_argument("axis has to be between [0, {})", x.rank());
  const int at = wrap_axis(given, x.rank());
  Shape y = x;
  y.set_dim(at, kUnknown);
  c.set_output(0, y);
  c.set_output(1, Shape{x[at]});
}

template <class Index>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape& shape = c.shape(0);
    // The shape function saw the axis only if it was known then.
    if (c.elements(1) > 1) throw invalid_argument("axis does not support input tensors larger than 1 elements");
    if (c.elements(1) == 0 && shape.rank() != 1) throw invalid_argument("unique expects a 1D vector.");
    if (const int64_t given = c.elements(1) == 0 ? 0 : int_at(c, 1); given < -shape.rank() || given >= shape.rank()) {
      throw invalid_argument("axis has to be between [0, {})", shape.rank());
    }
    const int axis = c.elements(1) == 0 ? 0 : wrap_axis(int_at(c, 1), shape.rank());
    // Beside an empty dimension others may have any size: nothing is looked at then.
    const bool empty = c.elements(0) == 0;
    const int64_t n = shape[axis], outer = empty ? 0 : product(shape, 0, axis);
    const int64_t inner = empty ? 0 : product(shape, axis + 1, shape.rank());
    if (empty && n > (int64_t{1} << 32)) throw error(Code::ResourceExhausted, "{} slices without elements", n);
    const T* x = c.input<T>(0);
    auto element = [&](int64_t slice, int64_t o, int64_t i) { return Wide<T>(x[(o * n + slice) * inner + i]); };
    auto hash = [&](int64_t slice) {
      size_t h = 0;
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i) h = h * 0x9e3779b97f4a7c15ull + std::hash<Wide<T>>()(element(slice, o, i));
      }
      return h;
    };
    auto equal = [&](int64_t a, int64_t b) {
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i) {
          if (!(element(a, o, i) == element(b, o, i))) return false;
        }
      }
      return true;
    };
    std::unordered_map<int64_t, int64_t, decltype(hash), decltype(equal)> places(16, hash, equal);
    std::vector<int64_t> firsts;
    std::vector<Index> counts;
    Tensor idx(dtype_of<Index>, Shape{n});
    for (int64_t slice = 0; slice < n; ++slice) {
      const auto [found, added] = places.emplace(slice, static_cast<int64_t>(firsts.size()));
      if (added) {
        firsts.push_back(slice);
        counts.push_back(0);
      }
      idx.mutable_data<Index>()[slice] = static_cast<Index>(found->second);
      ++counts[static_cast<size_t>(found->second)];
    }
    const auto distinct = static_cast<int64_t>(firsts.size());
    Shape to = shape;
    to.set_dim(axis, distinct);
    Tensor y(dtype_of<T>, to);
    T* out = y.mutable_data<T>();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < distinct; ++k) {
        std::copy_n(x + (o * n + firsts[static_cast<size_t>(k)]) * inner, inner, out + (o * distinct + k) * inner);
      }
    }
    c.set_output(0, std::move(y));
    c.set_output(1, std::move(idx));
    if (c.outputs() > 2) c.set_output(2, Tensor(counts));
  }
};

using HashedTypes = decltype(RealTypes{} + Types<bool, std::string>{});

ComputeFn select(const NodeView& node) {
  return node.type("out_idx") == DType::Int32 ? kernel_for<HashedTypes, Cpu<int32_t>>(node)
                                              : kernel_for<HashedTypes, Cpu<int64_t>>(node);
}

OpDef row(std::string_view name, std::string_view outputs) {
  return {.name = name,
          .inputs = "x:T; axis:Taxis",
          .outputs = outputs,
          .attrs = "T:type; Taxis:type{int32,int64}=int64; out_idx:type{int32,int64}=int32",
          .host = "axis",
          .infer = infer,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace

OpDef unique_v2_op() { return row("UniqueV2", "y:T; idx:out_idx"); }
OpDef unique_with_counts_v2_op() { return row("UniqueWithCountsV2", "y:T; idx:out_idx; count:out_idx"); }

}  // namespace weir::ops
