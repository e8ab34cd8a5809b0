#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/run_check.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Indices: a number, a vector of numbers, or a matrix with one row of coordinates for each value.
void infer(InferContext& c) {
  const Shape &indices = c.input(0), &to = c.input(1), &values = c.input(2), &default_value = c.input(3);
  if (to.has_rank() && to.rank() != 1) {
    throw invalid_argument("Shape must be rank 1 but is rank {}: output_shape should be a vector, got shape {}",
                           to.rank(), to.str());
  }
  c.set_output(0, shape_argument(c, 1));
  if (indices.has_rank() && indices.rank() > 2) {
    throw run_check("sparse_indices should be a scalar, vector, or matrix, got shape {}", indices.str());
  }
  if (values.has_rank() && values.rank() > 1) {
    const bool counted = indices.has_rank() && indices.rank() > 0 && indices[0] != kUnknown;
    throw run_check("sparse_values has incorrect shape {}, should be [] or [{}]", values.str(),
                    counted ? std::to_string(indices[0]) : "n");
  }
  if (default_value.has_rank() && default_value.rank() != 0) {
    throw run_check("default_value should be a scalar, got shape {}", default_value.str());
  }
}

struct State {
  bool validate;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("validate_indices")}; }

// "[1, 0]", where an element goes.
std::string coordinates(const KernelContext& c, int64_t i, int64_t depth) {
  std::string text = "[";
  for (int64_t d = 0; d < depth; ++d) text += (d ? ", " : "") + std::to_string(int_at(c, 0, i * depth + d));
  return text + "]";
}

void cpu(KernelContext& c) {
  const Shape &indices = c.shape(0), &to = c.output_shape();
  const int64_t count = indices.rank() == 0 ? 1 : indices[0];
  const int64_t depth = indices.rank() < 2 ? 1 : indices[1];
  if (depth != to.rank()) throw invalid_argument("{} coordinates for a tensor of shape {}", depth, to.str());
  if (c.shape(2).rank() == 1 && c.elements(2) != count) {
    throw invalid_argument("sparse_values has incorrect shape {}, should be [] or [{}]", c.shape(2).str(), count);
  }
  // Indices without coordinates take no memory, however many there are: the second tells all that the others could.
  const int64_t writes = depth == 0 && c.shape(2).rank() == 0 ? std::min<int64_t>(count, 2) : count;
  const Strides strides(to);
  fill_elements(c.dtype(3), c.raw_output(), c.output_elements(), c.raw_input(3), c.pool());
  with_element_type(c.dtype(2), [&]<class T>(T) {
    int64_t last = -1;
    for (int64_t i = 0; i < writes; ++i) {
      int64_t at = 0;
      for (int d = 0; d < depth; ++d) {
        const int64_t x = int_at(c, 0, i * depth + d);
        if (x < 0 || x >= to[d]) {
          throw invalid_argument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i, coordinates(c, i, depth),
                                 to.str());
        }
        at += x * strides[d];
      }
      if (c.state<State>().validate && at <= last) {
        throw invalid_argument("indices[{}] = {} is {}", i, coordinates(c, i, depth),
                               at == last ? "repeated" : "out of order");
      }
      last = at;
      c.output<T>()[at] = c.input<T>(2)[c.shape(2).rank() == 0 ? 0 : i];
    }
  });
}

void gradient(GradContext& c) {
  Output grad = c.output_grad();
  Output values = gather_nd(grad, c.input(0));
  c.set_input_grad(2, values);
  c.set_input_grad(3, reduce_sum(grad) - reduce_sum(values));
}

}  // namespace

OpDef sparse_to_dense_op() {
  return {.name = "SparseToDense",
          .inputs = "sparse_indices:Tindices; output_shape:Tindices; sparse_values:T; default_value:T",
          .outputs = "dense:T",
          .attrs = "validate_indices:bool=True; T:type; Tindices:type{int32,int64}",
          .host = "output_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output sparse_to_dense(const In& sparse_indices, const In& output_shape, const In& sparse_values,
                       const In& default_value, bool validate_indices, std::string_view name) {
  return NodeBuilder("SparseToDense", name)
      .input(sparse_indices)
      .input(output_shape)
      .input(sparse_values)
      .input(default_value)
      .attr("validate_indices", validate_indices)
      .output();
}

}  // namespace weir
