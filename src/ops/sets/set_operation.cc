#include "ops/sets/groups.h"
#include "weir/set_ops.h"

// The three forms of a set operation: both sets dense, the second sparse, both sparse.
namespace weir::ops {
namespace {

int64_t rank_or_unknown(const Shape& shape) { return shape.has_rank() ? shape.rank() : kUnknown; }

// The rank of a sparse input whose indices, values and shape begin at `first`.
int64_t sparse_rank(InferContext& c, int first) {
  c.require_rank(first, 2);
  c.require_rank(first + 1, 1);
  c.require_rank(first + 2, 1);
  const Shape indices = c.input(first).merged(Shape::unknown_dims(2));
  return c.input(first + 2).merged({indices[1]})[0];
}

int64_t merged_rank(int64_t a, int64_t b) {
  if (a != kUnknown && b != kUnknown && a != b) {
    throw invalid_argument("set1 has rank {}, and set2 {}: they must be the same", a, b);
  }
  return a == kUnknown ? b : a;
}

void infer_dense_to_dense(InferContext& c) {
  for (int i : {0, 1}) c.require_min_rank(i, 2);
  const Shape &a = c.input(0), &b = c.input(1);
  const int64_t rank = merged_rank(rank_or_unknown(a), rank_or_unknown(b));
  for (int i = 0; a.has_rank() && b.has_rank() && i + 1 < a.rank(); ++i) {
    if (!Shape{a[i]}.compatible({b[i]})) {
      throw invalid_argument("Mismatched group shapes: {} vs. {}", a.str(), b.str());
    }
  }
  set_result_shapes(c, rank);
}

void infer_dense_to_sparse(InferContext& c) {
  c.require_min_rank(0, 2);
  set_result_shapes(c, merged_rank(rank_or_unknown(c.input(0)), sparse_rank(c, 1)));
}

void infer_sparse_to_sparse(InferContext& c) {
  set_result_shapes(c, merged_rank(sparse_rank(c, 0), sparse_rank(c, 3)));
}

struct DenseToDense {
  template <class T>
  static void run(KernelContext& c) {
    combine_groups(c, dense_groups<T>(c, 0), dense_groups<T>(c, 1), dense_group_shape(c, 0), dense_group_shape(c, 1));
  }
};

struct DenseToSparse {
  template <class T>
  static void run(KernelContext& c) {
    combine_groups(c, dense_groups<T>(c, 0), sparse_groups<T>(c, 1, c.state<SetState>().validate_indices),
                   dense_group_shape(c, 0), sparse_group_shape(c, 1));
  }
};

struct SparseToSparse {
  template <class T>
  static void run(KernelContext& c) {
    const bool validate = c.state<SetState>().validate_indices;
    combine_groups(c, sparse_groups<T>(c, 0, validate), sparse_groups<T>(c, 3, validate), sparse_group_shape(c, 0),
                   sparse_group_shape(c, 3));
  }
};

template <class Cpu>
OpDef row(std::string_view name, std::string_view inputs, void (*infer)(InferContext&)) {
  return {.name = name,
          .inputs = inputs,
          .outputs = kSetOutputs,
          .attrs = kSetAttrs,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<SetTypes, Cpu>, .prepare = prepared<prepare_set_operation>},
          .host_only = true};
}

}  // namespace

OpDef dense_to_dense_set_operation_op() {
  return row<DenseToDense>("DenseToDenseSetOperation", "set1:T; set2:T", infer_dense_to_dense);
}
OpDef dense_to_sparse_set_operation_op() {
  return row<DenseToSparse>("DenseToSparseSetOperation", "set1:T; set2_indices:int64; set2_values:T; set2_shape:int64",
                            infer_dense_to_sparse);
}
OpDef sparse_to_sparse_set_operation_op() {
  return row<SparseToSparse>("SparseToSparseSetOperation",
                             "set1_indices:int64; set1_values:T; set1_shape:int64; set2_indices:int64; set2_values:T; "
                             "set2_shape:int64",
                             infer_sparse_to_sparse);
}

}  // namespace weir::ops

namespace weir::sets {
namespace {

nn::SparseOutput combine(const Sets& a, const Sets& b, const char* operation, bool validate_indices) {
  // A sparse first and a dense second set have no operation of their own.
  if (a.is_sparse() && !b.is_sparse()) {
    const std::string_view swapped = operation == std::string_view("a-b")   ? "b-a"
                                     : operation == std::string_view("b-a") ? "a-b"
                                                                            : operation;
    return combine(b, a, swapped.data(), validate_indices);
  }
  NodeBuilder builder(a.is_sparse()   ? "SparseToSparseSetOperation"
                      : b.is_sparse() ? "DenseToSparseSetOperation"
                                      : "DenseToDenseSetOperation",
                      {}, a.values.where());
  for (const Sets* set : {&a, &b}) {
    if (set->is_sparse()) builder.input(set->indices);
    builder.input(set->values);
    if (set->is_sparse()) builder.input(set->shape);
  }
  Operation op = builder.attr("set_operation", operation).attr("validate_indices", validate_indices).build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace

nn::SparseOutput set_intersection(const Sets& a, const Sets& b, bool validate_indices) {
  return combine(a, b, "intersection", validate_indices);
}
nn::SparseOutput set_difference(const Sets& a, const Sets& b, bool aminusb, bool validate_indices) {
  return combine(a, b, aminusb ? "a-b" : "b-a", validate_indices);
}
nn::SparseOutput set_union(const Sets& a, const Sets& b, bool validate_indices) {
  return combine(a, b, "union", validate_indices);
}

}  // namespace weir::sets
