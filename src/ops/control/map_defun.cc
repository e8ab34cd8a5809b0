#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/control/call.h"
#include "ops/data/dataset.h"
#include "ops/run_control.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// How many rows all arguments have.
int64_t rows_of(const KernelContext& c, int arguments) {
  for (int i = 0; i < arguments; ++i) {
    if (c.shape(i).rank() < 1) throw invalid_argument("Scalar inputs are not allowed in MapDefun: argument {}", i);
    if (c.shape(i)[0] != c.shape(0)[0]) {
      throw invalid_argument(
          "All inputs must have the same dimension 0. Input {} has leading dimension {}, while all previous inputs "
          "have "
          "leading dimension {}",
          i, c.shape(i)[0], c.shape(0)[0]);
    }
  }
  return c.shape(0)[0];
}

void infer(InferContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.outputs()) {
    throw invalid_argument("`output_shapes` must be the same length as `output_types` ({} vs. {})", shapes.size(),
                           c.outputs());
  }
  int64_t rows = kUnknown;
  for (size_t i = 0; i < c.attr<std::vector<DType>>("Targuments").size(); ++i) {
    const Shape& shape = c.input(static_cast<int>(i));
    if (!shape.has_rank()) continue;
    if (shape.rank() == 0) throw invalid_argument("Arguments must have rank at least 1. Input #{} has rank of 0.", i);
    if (rows != kUnknown && shape[0] != kUnknown && shape[0] != rows) {
      throw invalid_argument("Arguments must have the same dimension 0.");
    }
    if (shape[0] != kUnknown) rows = shape[0];
  }
  for (int i = 0; i < c.outputs(); ++i) {
    const Shape& row = shapes[static_cast<size_t>(i)];
    if (!row.has_rank()) continue;
    Shape whole{rows};
    for (int64_t dim : row.dims()) whole.append(dim);
    c.set_output(i, whole);
  }
}

// A row of no elements for a result of which there is none.
Tensor no_rows(DType dtype, const Shape& row) {
  Shape whole{0};
  if (!row.is_known()) throw invalid_argument("`output_shapes` must be known when there are no rows: {}", row.str());
  for (int64_t dim : row.dims()) whole.append(dim);
  return Tensor(dtype, whole);
}

void cpu(KernelContext& c) {
  static const RunControl kNone;
  const int arguments = types_of_list(c, "Targuments"), captured = types_of_list(c, "Tcaptured");
  const auto& types = c.node().attr<std::vector<DType>>("output_types");
  const auto& shapes = c.node().attr<std::vector<Shape>>("output_shapes");
  const int64_t rows = rows_of(c, arguments);
  GraphFunction& function = (*c.state<CallState>().functions)->find(c.node().attr<FunctionName>("f").name);
  if (function.results() != types.size()) {
    throw invalid_argument("the function gives {} results; {} are wanted", function.results(), types.size());
  }
  const std::vector<Tensor> wholes = call_arguments(c, 0, arguments), others = call_arguments(c, arguments, captured);
  std::vector<Element> results(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    Element inputs;
    for (const Tensor& whole : wholes) inputs.push_back(shared_row(whole, row));
    inputs.insert(inputs.end(), others.begin(), others.end());
    Element& result = results[static_cast<size_t>(row)];
    result.resize(types.size());
    function.call(inputs, result, c.control() ? *c.control() : kNone);
    for (size_t i = 0; i < types.size(); ++i) {
      if (result[i].dtype() == types[i] && result[i].shape().compatible(shapes[i])) continue;
      throw invalid_argument("Output of function, {}{}, is not compatible with the declared shape {} of type {}",
                             dtype_name(result[i].dtype()), result[i].shape().str(), shapes[i].str(),
                             dtype_name(types[i]));
    }
  }
  if (rows > 0) {
    Element batch = BatchMaker().batch(results);
    for (size_t i = 0; i < types.size(); ++i) c.set_output(static_cast<int>(i), std::move(batch[i]));
  }
  for (size_t i = 0; rows == 0 && i < types.size(); ++i)
    c.set_output(static_cast<int>(i), no_rows(types[i], shapes[i]));
}

}  // namespace

OpDef map_defun_op() {
  return {.name = "MapDefun",
          .inputs = "arguments:Targuments; captured_inputs:Tcaptured",
          .outputs = "output:output_types",
          .attrs =
              "Targuments:list(type)>=1; Tcaptured:list(type)>=0=[]; output_types:list(type)>=1; "
              "output_shapes:list(shape)>=1; f:func; max_intra_op_parallelism:int=1",
          .host = "arguments, captured_inputs, output",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare_call>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
