#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void set_outputs(InferContext& c, int64_t k) {
  c.require_min_rank(0, 1);
  Shape output = c.input(0);
  if (output.has_rank()) {
    if (k != kUnknown && output[-1] != kUnknown && output[-1] < k) {
      throw invalid_argument("input must have at least k columns: must have last dimension >= k = {} but has shape {}",
                             k, output.str());
    }
    output.set_dim(-1, k);
  }
  c.set_output(0, output);
  c.set_output(1, output);
}

void infer(InferContext& c) { set_outputs(c, c.attr<int64_t>("k")); }

void infer_v2(InferContext& c) {
  c.require_scalar(1);
  const auto k = c.value_as_ints(1);
  if (k && (*k)[0] < 0) throw invalid_argument("Need k >= 0, got {}", (*k)[0]);
  set_outputs(c, k ? (*k)[0] : kUnknown);
}

// Scatters the gradient to where the values came from, in the input seen as one long vector.
void gradient(GradContext& c) {
  Output grad = c.output_grad(0), indices = c.output(1);
  Output in_shape = shape(c.input(0)), index_shape = shape(indices);
  Output wide_index_shape = cast(index_shape, int64);
  Output k = gather(wide_index_shape, size(index_shape) - 1);
  Output rows = reshape(indices, stack({In(Tensor(int64_t{-1})), k}));
  Output wide_in_shape = cast(in_shape, int64);
  Output columns = gather(wide_in_shape, size(in_shape) - 1);
  Output row_count = subscript(shape(rows), {0});
  Output row_begins = range(Tensor(int64_t{0}), cast(row_count, int64) * columns, columns);
  Output flat = reshape(rows + cast(expand_dims(row_begins, -1), int32), {-1});
  Output places = expand_dims(flat, -1), values = reshape(grad, {-1});
  Output scattered = scatter_nd(places, values, stack({reduce_prod(in_shape)}));
  c.set_input_grad(0, reshape(scattered, in_shape));
}

KernelState prepare(PrepareContext& c) {
  c.set_scratch(static_cast<size_t>(c.input(0)[-1]) * static_cast<size_t>(c.threads()) * sizeof(int32_t));
  return KernelState(nullptr, [](void*) {});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const RowShape shape(c.shape(0));
    const int64_t k = c.output_shape()[-1];
    const T* x = c.input<T>(0);
    T* values = c.output<T>(0);
    auto* indices = c.output<int32_t>(1);
    c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
      int32_t* order = static_cast<int32_t*>(c.scratch()) + ThreadPool::thread_index() * shape.columns;
      for (int64_t row = begin; row < end; ++row) {
        const T* from = x + row * shape.columns;
        std::iota(order, order + shape.columns, 0);
        std::partial_sort(order, order + k, order + shape.columns, [&](int32_t a, int32_t b) {
          const Wide<T> va = from[a], vb = from[b];
          // NaN comes last, as a strict order wants it to have a place.
          const bool nan_a = va != va, nan_b = vb != vb;
          if (nan_a || nan_b) return nan_a == nan_b ? a < b : nan_b;
          return va > vb || (va == vb && a < b);
        });
        for (int64_t i = 0; i < k; ++i) {
          values[row * k + i] = from[order[i]];
          indices[row * k + i] = order[i];
        }
      }
    });
  }
};

constexpr Kernel kKernel = {.select = kernel_for<RealTypes, Cpu>, .prepare = prepare};

}  // namespace

OpDef top_k_op() {
  return {.name = "TopK",
          .inputs = "input:T",
          .outputs = "values:T; indices:int32",
          .attrs = "k:int>=0; sorted:bool=True; T:realnumbertype",
          .flags = "deprecated@7",
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel};
}

OpDef top_k_v2_op() {
  return {.name = "TopKV2",
          .inputs = "input:T; k:int32",
          .outputs = "values:T; indices:int32",
          .attrs = "sorted:bool=True; T:realnumbertype",
          .host = "k",
          .infer = infer_v2,
          .gradient = gradient,
          .cpu = kKernel};
}

}  // namespace weir::ops

namespace weir::nn {

TopK top_k(const In& input, const In& k, bool sorted, std::string_view name) {
  Operation op = NodeBuilder("TopKV2", name).input(input).input(k).attr("sorted", sorted).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir::nn
