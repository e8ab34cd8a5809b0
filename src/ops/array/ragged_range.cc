#include <cmath>

#include "graph/infer_context.h"
#include "ops/array/ragged.h"
#include "ops/math/functors.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  int64_t rows = 1;
  bool scalar = true;
  for (int i = 0; i < 3; ++i) {
    const Shape& given = c.input(i);
    if (!given.has_rank()) {
      rows = kUnknown;
      scalar = false;
      continue;
    }
    if (given.rank() > 1) {
      throw invalid_argument("{} must be a scalar or vector", i == 0 ? "starts" : i == 1 ? "limits" : "deltas");
    }
    if (given.rank() == 0) continue;
    if (!scalar && rows != kUnknown && given[0] != kUnknown && rows != given[0]) {
      throw invalid_argument("starts, limits, and deltas must have the same shape");
    }
    if (scalar || rows == kUnknown) rows = given[0];
    scalar = false;
  }
  c.set_output(0, Shape{rows == kUnknown ? kUnknown : rows + 1});
  c.set_output(1, Shape{kUnknown});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    int64_t rows = 1;
    bool scalar = true;
    for (int i = 0; i < 3; ++i) {
      if (c.shape(i).rank() > 1 || (!scalar && c.shape(i).rank() == 1 && c.elements(i) != rows)) {
        throw invalid_argument("starts, limits, and deltas must have the same shape");
      }
      if (c.shape(i).rank() == 0) continue;
      rows = c.elements(i);
      scalar = false;
    }
    auto at = [&](int input, int64_t i) {
      return static_cast<W>(c.input<T>(input)[c.shape(input).rank() == 0 ? 0 : i]);
    };
    std::vector<int64_t> splits{0};
    for (int64_t i = 0; i < rows; ++i) {
      const W delta = at(2, i);
      if (delta == W(0)) throw invalid_argument("Requires delta != 0");
      splits.push_back(checked_add(splits.back(), length(at(0, i), at(1, i), delta)));
      if (splits.back() > (int64_t{1} << 40))
        throw error(Code::ResourceExhausted, "the ranges have {} elements", splits.back());
    }
    Tensor values(dtype_of<T>, Shape{splits.back()});
    T* out = values.mutable_data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      W value = at(0, i);
      const int64_t count = splits[static_cast<size_t>(i + 1)] - splits[static_cast<size_t>(i)];
      for (int64_t j = 0; j < count; ++j) {
        *out++ = static_cast<T>(value);
        value = wrapping_add(value, at(2, i));
      }
    }
    c.set_output(0, splits_tensor(splits, c.node().type("Tsplits")));
    c.set_output(1, std::move(values));
  }

 private:
  template <class W>
  static int64_t length(W start, W limit, W delta) {
    if ((delta > 0 && limit < start) || (delta < 0 && limit > start)) return 0;
    if constexpr (std::is_integral_v<W>) {
      // In unsigned numbers, which hold every distance.
      const auto far = static_cast<uint64_t>(limit) - static_cast<uint64_t>(start);
      const uint64_t way = delta > 0 ? far : 0 - far,
                     step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
      const uint64_t count = way / step + (way % step != 0 ? 1 : 0);
      return count > (uint64_t{1} << 62) ? int64_t{1} << 62 : static_cast<int64_t>(count);
    } else {
      const double count =
          std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
      return count < 4e18 ? static_cast<int64_t>(count) : std::isnan(count) ? 0 : int64_t{1} << 62;
    }
  }
};

}  // namespace

OpDef ragged_range_op() {
  return {.name = "RaggedRange",
          .inputs = "starts:T; limits:T; deltas:T",
          .outputs = "rt_nested_splits:Tsplits; rt_dense_values:T",
          .attrs = "T:type{bfloat16,float,double,int32,int64}=int32; Tsplits:type{int32,int64}=int64",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<BFloat16, float, double, int32_t, int64_t>, Cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
