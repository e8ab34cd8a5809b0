#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/io/parse_common.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  const int output = infer_sparse(c, 0, static_cast<size_t>(c.attr<int64_t>("num_sparse")), 1);
  infer_dense(c, output, c.attr<std::vector<Shape>>("dense_shapes"), Shape{});
}

void cpu(KernelContext& c) {
  const auto& sparse_keys = c.node().attr<std::vector<std::string>>("sparse_keys");
  if (c.node().attr<int64_t>("num_sparse") != static_cast<int64_t>(sparse_keys.size())) {
    throw invalid_argument("num_sparse ({}) must match the size of sparse_keys ({})",
                           c.node().attr<int64_t>("num_sparse"), sparse_keys.size());
  }
  const io::ExampleParser parser(sparse_features(sparse_keys, c.node().attr<std::vector<DType>>("sparse_types")),
                                 dense_features(c, c.node().attr<std::vector<std::string>>("dense_keys"),
                                                c.node().attr<std::vector<DType>>("Tdense"),
                                                c.node().attr<std::vector<Shape>>("dense_shapes"), 1));
  io::ParsedExamples parsed = parser.parse(strings_of(c, 0), {io::ParseMessages::Of::SingleExample, {}}, c.pool());
  set_dense(c, set_sparse(c, 0, std::move(parsed.sparse)), std::move(parsed.dense));
}

}  // namespace

OpDef parse_single_example_op() {
  return {.name = "ParseSingleExample",
          .inputs = "serialized:string; dense_defaults:Tdense",
          .outputs =
              "sparse_indices:num_sparse*int64; sparse_values:sparse_types; sparse_shapes:num_sparse*int64; "
              "dense_values:Tdense",
          .attrs =
              "num_sparse:int>=0; sparse_keys:list(string)>=0; dense_keys:list(string)>=0; "
              "sparse_types:list(type){float,int64,string}>=0; Tdense:list(type){float,int64,string}>=0; "
              "dense_shapes:list(shape)>=0",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
