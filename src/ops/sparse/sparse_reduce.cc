#include <map>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/math/functors.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"

// Sums and maxima over dimensions of sparse tensors, of the values that are there. Results are dense or sparse.
namespace weir::ops {
namespace {

void infer_input(InferContext& c) {
  infer_sparse_input(c, 0);
  if (c.input(3).has_rank() && c.input(3).rank() > 1) {
    throw invalid_argument("Expected input reduction_axes to be a scalar or vector; got shape {}", c.input(3).str());
  }
}

void infer_dense(InferContext& c) {
  infer_input(c);
  c.set_output(0, Shape::unknown());
}

void infer_sparse(InferContext& c) {
  infer_input(c);
  set_sparse_output(c, 0, kUnknown, kUnknown);
}

// Which dimensions stay, and how the result is shaped. Without axes everything is reduced.
struct Reduced {
  std::vector<int64_t> kept;
  std::vector<int64_t> dims;

  Reduced(const KernelContext& c, const Coordinates& from) {
    std::vector<bool> gone(static_cast<size_t>(from.rank), c.elements(3) == 0);
    for (int64_t i = 0; i < c.elements(3); ++i) {
      const int64_t axis = c.input<int32_t>(3)[i];
      if (axis < -from.rank || axis >= from.rank) {
        throw invalid_argument("Invalid reduction dimension {}, for input with {} dimensions.", axis, from.rank);
      }
      gone[static_cast<size_t>(axis < 0 ? axis + from.rank : axis)] = true;
    }
    const bool keep = c.node().attr<bool>("keep_dims");
    for (int64_t d = 0; d < from.rank; ++d) {
      if (!gone[static_cast<size_t>(d)]) {
        kept.push_back(d);
        dims.push_back(from.dims[d]);
      } else if (keep) {
        kept.push_back(-1);
        dims.push_back(1);
      }
    }
  }
  std::vector<int64_t> place(const int64_t* row) const {
    std::vector<int64_t> at;
    for (int64_t d : kept) at.push_back(d < 0 ? 0 : row[d]);
    return at;
  }
};

struct Sum {
  template <class W>
  static W join(W a, W b) {
    return wrapping_add(a, b);
  }
};
struct Max {
  template <class W>
  static W join(W a, W b) {
    return std::max(a, b);
  }
};

// By place, in order.
template <class T, class How>
std::map<std::vector<int64_t>, Wide<T>> reduce(const KernelContext& c, const Coordinates& from,
                                               const Reduced& reduced) {
  std::map<std::vector<int64_t>, Wide<T>> results;
  for (int64_t i = 0; i < from.count; ++i) {
    const Wide<T> value(c.input<T>(1)[i]);
    const auto [at, fresh] = results.try_emplace(reduced.place(from.row(i)), value);
    if (!fresh) at->second = How::join(at->second, value);
  }
  return results;
}

template <class How>
struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Coordinates from(c, 0, 2);
    const Reduced reduced(c, from);
    Tensor result = Tensor::zeros(dtype_of<T>, Shape(reduced.dims));
    for (const auto& [place, value] : reduce<T, How>(c, from, reduced)) {
      int64_t at = 0;
      for (size_t d = 0; d < place.size(); ++d) at = at * reduced.dims[d] + place[d];
      result.mutable_data<T>()[at] = static_cast<T>(value);
    }
    c.set_output(0, std::move(result));
  }
};

template <class How>
struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Coordinates from(c, 0, 2);
    const Reduced reduced(c, from);
    std::vector<int64_t> rows;
    std::vector<T> values;
    for (const auto& [place, value] : reduce<T, How>(c, from, reduced)) {
      rows.insert(rows.end(), place.begin(), place.end());
      values.push_back(static_cast<T>(value));
    }
    c.set_output(0, index_tensor(rows, static_cast<int64_t>(values.size()), static_cast<int64_t>(reduced.dims.size())));
    c.set_output(1, Tensor(values));
    c.set_output(2, Tensor(reduced.dims));
  }
};

void gradient(GradContext& c) {
  Output indices = c.input(0), whole = c.input(2), axes = c.input(3);
  Output rank_of = size(whole), wrapped = floormod(axes + rank_of, rank_of);
  Output kept = dynamic_stitch({range(0, rank_of), wrapped}, {whole, ones(c.graph(), shape(axes), int64)});
  Output grad = reshape(c.output_grad(), kept);
  c.set_input_grad(1, gather_nd(grad, floordiv(indices, floordiv(whole, kept))));
}

OpDef dense_row(std::string_view name, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = "input_indices:int64; input_values:T; input_shape:int64; reduction_axes:int32",
          .outputs = "output:T",
          .attrs = attrs,
          .infer = infer_dense,
          .cpu = cpu};
}
OpDef sparse_row(std::string_view name, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = "input_indices:int64; input_values:T; input_shape:int64; reduction_axes:int32",
          .outputs = "output_indices:int64; output_values:T; output_shape:int64",
          .attrs = attrs,
          .infer = infer_sparse,
          .gradient = not_differentiable,
          .cpu = cpu};
}

constexpr std::string_view kSumAttrs = "keep_dims:bool=False; T:numbertype";
constexpr std::string_view kMaxAttrs = "keep_dims:bool=False; T:realnumbertype";

}  // namespace

OpDef sparse_reduce_sum_op() {
  OpDef row = dense_row("SparseReduceSum", kSumAttrs, {.select = kernel_for<NumberTypes, Dense<Sum>>});
  row.gradient = gradient;
  return row;
}
OpDef sparse_reduce_max_op() {
  return dense_row("SparseReduceMax", kMaxAttrs, {.select = kernel_for<RealTypes, Dense<Max>>});
}
OpDef sparse_reduce_sum_sparse_op() {
  return sparse_row("SparseReduceSumSparse", kSumAttrs, {.select = kernel_for<NumberTypes, Sparse<Sum>>});
}
OpDef sparse_reduce_max_sparse_op() {
  return sparse_row("SparseReduceMaxSparse", kMaxAttrs, {.select = kernel_for<RealTypes, Sparse<Max>>});
}

}  // namespace weir::ops
