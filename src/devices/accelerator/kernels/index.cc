#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/nn/rows.h"
#include "ops/state/variable_state.h"

namespace weir::accelerator {
namespace {

// An index that is out of range is clamped here and named by check_range.
constexpr const char* kSource = R"kernel(
#define CLAMPED(index, limit) ((index) < 0 ? 0 : (index) >= (limit) ? (limit) - 1 : (int)(index))
KERNEL(gather, BUFFER(T, params), BUFFER(U, indices), BUFFER(T, out), int n, int outer, int limit, int inner, int count) {
  OPEN(T, params); OPEN(U, indices); OPEN(T, out);
  FOR_EACH(i, n) {
    const int column = i % inner, row = i / inner, k = row % count, group = row / count;
    const U index = indices[group / outer * count + k];
    out[i] = params[(group * limit + CLAMPED(index, limit)) * inner + column];
  }
}
KERNEL(one_hot, BUFFER(U, indices), BUFFER(T, on), BUFFER(T, off), BUFFER(T, out), int n, int depth, int inner) {
  OPEN(U, indices); OPEN(T, on); OPEN(T, off); OPEN(T, out);
  FOR_EACH(i, n) {
    const int in = i % inner, rest = i / inner, d = rest % depth, o = rest / depth;
    out[i] = indices[o * inner + in] == d ? on[0] : off[0];
  }
}
KERNEL(segment_sum, BUFFER(T, data), BUFFER(U, ids), BUFFER(T, out), int n, int rows, int width) {
  OPEN(T, data); OPEN(U, ids); OPEN(T, out);
  FOR_EACH(i, n) {
    const int column = i % width, segment = i / width;
    T sum = 0;
    for (int k = 0; k < rows; ++k) {
      if (ids[k] == segment) sum += data[k * width + column];
    }
    out[i] = sum;
  }
}
KERNEL(top_k, BUFFER(T, x), BUFFER(T, values), BUFFER(i32, indices), int rows, int columns, int k) {
  OPEN(T, x); OPEN(T, values); OPEN(i32, indices);
  FOR_EACH(row, rows) {
    for (int place = 0; place < k; ++place) {
      // The largest of those behind the last one taken, in the order of values and then of indices.
      int best = -1;
      const int last = place > 0 ? indices[row * k + place - 1] : -1;
      for (int c = 0; c < columns; ++c) {
        const T v = x[row * columns + c];
        if (last >= 0) {
          const T before = x[row * columns + last];
          if (v > before || (v == before && c <= last)) continue;
        }
        if (best < 0 || v > x[row * columns + best]) best = c;
      }
      indices[row * k + place] = best < 0 ? 0 : best;
      values[row * k + place] = x[row * columns + (best < 0 ? 0 : best)];
    }
  }
}
KERNEL(in_top_k, BUFFER(T, x), BUFFER(U, targets), BUFFER(u8, out), int rows, int columns, i64 k) {
  OPEN(T, x); OPEN(U, targets); OPEN(u8, out);
  FOR_EACH(row, rows) {
    const int inside = targets[row] >= 0 && targets[row] < columns;
    const T own = x[row * columns + (inside ? (int)targets[row] : 0)];
    int larger = 0, finite = inside && own - own == 0;
    for (int c = 0; c < columns && finite; ++c) {
      const T v = x[row * columns + c];
      if (v - v != 0) finite = 0;
      if (v > own) ++larger;
    }
    out[row] = finite && larger < k;
  }
}
)kernel";
const KernelDef kGather(kSource, "gather"), kOneHot(kSource, "one_hot"), kSegmentSum(kSource, "segment_sum"),
    kTopK(kSource, "top_k"), kInTopK(kSource, "in_top_k");

constexpr const char* kOutOfRange = "indices{where} = {value} is not in [0, {limit})";

// Elements are only moved, so those of one size share a kernel.
DType as_integer(DType type) {
  switch (dtype_size(type)) {
    case 1:
      return DType::Int8;
    case 2:
      return DType::Int16;
    case 4:
      return DType::Int32;
    default:
      return DType::Int64;
  }
}

void launch_gather(KernelContext& c, DType type, const void* params, void* out, int64_t n, int64_t outer, int64_t limit,
                   int64_t inner, int64_t count) {
  if (n == 0) return;
  check_range(c, 1, limit, kOutOfRange);
  Launch(kGather.of(as_integer(type), c.dtype(1)))
      .buffer(params)
      .buffer(c.raw_input(1))
      .buffer(out)
      .count(n)
      .count(outer)
      .count(limit)
      .count(inner)
      .count(count)
      .items(n);
}

struct GatherState {
  int64_t batch_dims = 0;
};
GatherState prepare_gather(PrepareContext& c) {
  const AttrValue* batch = c.node().attrs().find("batch_dims");
  return {batch ? std::get<int64_t>(*batch) : 0};
}

void gather(KernelContext& c) {
  const Shape &params = c.shape(0), &indices = c.shape(1);
  const int64_t asked = c.inputs() > 2 ? (c.dtype(2) == DType::Int64 ? c.scalar<int64_t>(2) : c.scalar<int32_t>(2)) : 0;
  const int axis = InferContext::normalise_axis(asked, params.rank());
  const int64_t batches = c.state<GatherState>().batch_dims;
  const int batch_dims = static_cast<int>(batches < 0 ? batches + indices.rank() : batches);
  launch_gather(c, c.dtype(0), c.raw_input(0), c.raw_output(), c.output_elements(),
                std::max<int64_t>(1, ops::product(params, batch_dims, axis)), params[axis],
                ops::product(params, axis + 1, params.rank()), ops::product(indices, batch_dims, indices.rank()));
}

void resource_gather(KernelContext& c) {
  const Tensor params = c.variable(0).read_live();
  if (params.dtype() != c.node().attr<DType>("dtype")) {
    throw invalid_argument("variable '{}' is {}", c.variable(0).name(), dtype_name(params.dtype()));
  }
  if (params.shape().rank() < 1) throw invalid_argument("a scalar variable has no rows");
  const int64_t limit = params.shape()[0], width = limit > 0 ? params.elements() / limit : 0;
  Shape to = c.shape(1);
  for (int i = 1; i < params.shape().rank(); ++i) to.append(params.shape()[i]);
  Tensor result = temporary(params.dtype(), to);
  if (limit == 0 && c.elements(1) > 0) check_range(c, 1, limit, kOutOfRange);
  launch_gather(c, params.dtype(), params.raw(), result.mutable_raw(), to.elements(), 1, limit, width, c.elements(1));
  c.set_output(0, std::move(result));
}

struct OneHotState {
  int64_t inner;
};
OneHotState prepare_one_hot(PrepareContext& c) {
  const Shape& indices = c.input(0);
  const int64_t axis = c.attr<int64_t>("axis");
  return {axis < 0 ? 1 : ops::product(indices, static_cast<int>(axis), indices.rank())};
}

void one_hot(KernelContext& c) {
  const int64_t n = c.output_elements();
  if (n == 0) return;
  Launch(kOneHot.of(as_integer(c.dtype(2)), c.dtype(0)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(2))
      .buffer(c.raw_input(3))
      .buffer(c.raw_output())
      .count(n)
      .count(c.scalar<int32_t>(1))
      .count(c.state<OneHotState>().inner)
      .items(n);
}

void segment_sum(KernelContext& c) {
  const int64_t rows = c.elements(1), n = c.output_elements(), segments = n > 0 ? c.output_shape()[0] : 0;
  if (n == 0) return;
  check_range(c, 1, segments, "segment_ids{where} = {value} is out of range [0, {limit})", /*negative_is_good=*/true);
  Launch(kSegmentSum.of(c.dtype(0), c.dtype(1)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(c.raw_output())
      .count(n)
      .count(rows)
      .count(n / segments)
      .items(n);
}

void top_k(KernelContext& c) {
  const ops::RowShape shape(c.shape(0));
  const Shape& to = c.output_shape(0);
  const int64_t k = to[to.rank() - 1];
  if (k == 0 || shape.rows == 0) return;
  Launch(kTopK.of(c.dtype(0)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_output(0))
      .buffer(c.raw_output(1))
      .count(shape.rows)
      .count(shape.columns)
      .count(k)
      .items(shape.rows);
}

struct InTopKState {
  int64_t k;
};
InTopKState prepare_in_top_k(PrepareContext& c) { return {c.attr<int64_t>("k")}; }

void in_top_k(KernelContext& c) {
  const ops::RowShape shape(c.shape(0));
  Launch(kInTopK.of(c.dtype(0), c.dtype(1)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(c.raw_output())
      .count(shape.rows)
      .count(shape.columns)
      .value(c.state<InTopKState>().k)
      .items(shape.rows);
}

bool has_int_indices(const NodeView&, std::span<const DType> inputs, std::span<const DType>) {
  return inputs[1] == DType::Int32 || inputs[1] == DType::Int64;
}
bool sums_floats(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs) {
  return first_is_float(node, inputs, outputs) && has_int_indices(node, inputs, outputs);
}

}  // namespace

std::span<const KernelRow> index_kernels() {
  static const KernelRow rows[] = {
      {"Gather", {.select = always<gather>, .prepare = prepared<prepare_gather>}, has_int_indices},
      {"GatherV2", {.select = always<gather>, .prepare = prepared<prepare_gather>}, has_int_indices},
      {"ResourceGather", {.select = always<resource_gather>, .gives_outputs = true}, has_int_indices},
      {"OneHot", {.select = always<one_hot>, .prepare = prepared<prepare_one_hot>}},
      {"UnsortedSegmentSum", {.select = always<segment_sum>}, sums_floats},
      {"TopK", {.select = always<top_k>}, first_is_float},
      {"TopKV2", {.select = always<top_k>}, first_is_float},
      {"InTopK", {.select = always<in_top_k>, .prepare = prepared<prepare_in_top_k>}, first_is_float},
  };
  return rows;
}

}  // namespace weir::accelerator
