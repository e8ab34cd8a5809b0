#include "ops/array/gather_common.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

constexpr int64_t kBlockBytes = 64 << 10;

// Sizes of params as [batch, outer, limit, inner] and of the indices as [batch, count].
struct Layout {
  int64_t batch, outer, limit, inner, count;
};

template <class Index, class CopySlice>
void gather_slices(KernelContext& c, const Layout& at, int64_t slice_bytes, const CopySlice& copy) {
  const Index* indices = c.input<Index>(1);
  // Rows of a table lie anywhere: the processor cannot guess the next one.
  constexpr int64_t kAhead = 8;
  const char* params = static_cast<const char*>(c.raw_input(0));
  const bool is_table = at.batch * at.outer == 1;
  const int64_t fetched = std::min<int64_t>(slice_bytes, 512);
  int64_t grain = std::max<int64_t>(kBlockBytes / std::max<int64_t>(slice_bytes, 8), 1);
  c.pool().parallel_for(at.batch * at.outer * at.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      if (is_table && row + kAhead < end) {
        const int64_t next = indices[row + kAhead];
        if (next >= 0 && next < at.limit) {
          for (int64_t b = 0; b < fetched; b += 64) __builtin_prefetch(params + next * slice_bytes + b);
        }
      }
      int64_t group = is_table ? 0 : row / at.count;
      int64_t i = row - group * at.count + group / at.outer * at.count;
      int64_t index = indices[i];
      if (index < 0 || index >= at.limit) index_out_of_range(c.shape(1), i, index, at.limit);
      copy(row, group * at.limit + index);
    }
  });
}

template <class Index>
void gather(KernelContext& c, const Layout& at) {
  with_element_type(c.dtype(0), [&]<class T>(T) {
    const T* params = c.input<T>(0);
    T* out = c.output<T>();
    int64_t n = at.inner, bytes = n * static_cast<int64_t>(sizeof(T));
    if (n == 1) {
      gather_slices<Index>(c, at, bytes, [=](int64_t to, int64_t from) { out[to] = params[from]; });
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      gather_slices<Index>(c, at, bytes, [=](int64_t to, int64_t from) {
        std::memcpy(out + to * n, params + from * n, static_cast<size_t>(bytes));
      });
    } else {
      gather_slices<Index>(c, at, bytes,
                           [=](int64_t to, int64_t from) { std::copy_n(params + from * n, n, out + to * n); });
    }
  });
}

}  // namespace

void index_out_of_range(const Shape& indices, int64_t i, int64_t value, int64_t limit) {
  throw invalid_argument("indices{} = {} is not in [0, {})", subscript_of(indices, i), value, limit);
}

void infer_gather(InferContext& c, std::optional<int64_t> axis_value, int64_t batch_dims) {
  const Shape &params = c.input(0), &indices = c.input(1);
  if (batch_dims < 0 && indices.has_rank()) batch_dims += indices.rank();
  c.require_min_rank(0, static_cast<int>(std::clamp<int64_t>(batch_dims + 1, 1, INT32_MAX)));
  if (indices.has_rank() && (batch_dims < 0 || batch_dims > indices.rank())) {
    throw invalid_argument("batch_dims {} for indices of shape {}", batch_dims, indices.str());
  }
  if (!params.has_rank() || !indices.has_rank()) return;
  int result_rank = params.rank() - 1 + indices.rank() - static_cast<int>(batch_dims);
  if (!axis_value) return c.set_output(0, Shape::unknown_dims(result_rank));
  int axis = InferContext::normalise_axis(*axis_value, params.rank());
  if (batch_dims > axis) throw invalid_argument("batch_dims {} is larger than axis {}", batch_dims, axis);
  Shape to;
  for (int i = 0; i < axis; ++i) {
    if (i < batch_dims && params[i] != kUnknown && indices[i] != kUnknown && params[i] != indices[i]) {
      throw invalid_argument("batch dimension {} differs: params has shape {}, indices {}", i, params.str(),
                             indices.str());
    }
    to.append(i < batch_dims && params[i] == kUnknown ? indices[i] : params[i]);
  }
  for (int i = static_cast<int>(batch_dims); i < indices.rank(); ++i) to.append(indices[i]);
  for (int i = axis + 1; i < params.rank(); ++i) to.append(params[i]);
  c.set_output(0, to);
}

void compute_gather(KernelContext& c, int64_t axis_value, int64_t batch_value) {
  const Shape &params = c.shape(0), &indices = c.shape(1);
  // The shape function need not have seen the axis: one element of a vector is a scalar whatever it is.
  int axis = InferContext::normalise_axis(axis_value, params.rank()),
      batch_dims = wrap_axis(batch_value, indices.rank());
  Layout layout{.batch = product(params, 0, batch_dims),
                .outer = product(params, batch_dims, axis),
                .limit = params.dims()[static_cast<size_t>(axis)],
                .inner = product(params, axis + 1, params.rank()),
                .count = product(indices, batch_dims, indices.rank())};
  if (c.output_elements() == 0) return;
  if (c.dtype(1) == DType::Int32) {
    gather<int32_t>(c, layout);
  } else {
    gather<int64_t>(c, layout);
  }
}

IndexedSlices gather_row_gradient(const Output& params, const Output& indices, const Output& grad) {
  Output params_shape;
  {
    Scope beside = params.graph().colocate_with(params.op());
    params_shape = cast(shape(params, int64), int32);
  }
  // Of a vector of indices everything has its shape already.
  if (indices.shape().rank() == 1) return {grad, indices, params_shape};
  Output count = expand_dims(size(indices), 0);
  Output values_shape = concat({count, subscript(params_shape, {from(1)})}, 0);
  return {reshape(grad, values_shape), reshape(indices, count), params_shape};
}

}  // namespace weir::ops
