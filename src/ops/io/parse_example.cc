#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/io/parse_common.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  const int64_t keys = c.attr<int64_t>("Nsparse") + c.attr<int64_t>("Ndense");
  for (int i = 0; i < keys; ++i) c.require_scalar(2 + i);
  const int output = infer_sparse(c, 0, static_cast<size_t>(c.attr<int64_t>("Nsparse")), 2);
  infer_dense(c, output, c.attr<std::vector<Shape>>("dense_shapes"),
              c.input(0).has_rank() ? c.input(0) : Shape{kUnknown});
}

void cpu(KernelContext& c) {
  const int64_t sparse = c.node().attr<int64_t>("Nsparse"), dense = c.node().attr<int64_t>("Ndense");
  const std::span<const std::string> serialized = strings_of(c, 0), names = strings_of(c, 1);
  if (!names.empty() && names.size() != serialized.size()) {
    throw invalid_argument("Expected len(names) == len(serialized), but got: {} vs. {}", names.size(),
                           serialized.size());
  }
  const int first_dense = 2 + static_cast<int>(sparse), first_default = first_dense + static_cast<int>(dense);
  const io::ExampleParser parser(
      sparse_features(key_inputs(c, 2, sparse, "sparse_keys"), c.node().attr<std::vector<DType>>("sparse_types")),
      dense_features(c, key_inputs(c, first_dense, dense, "dense_keys"), c.node().attr<std::vector<DType>>("Tdense"),
                     c.node().attr<std::vector<Shape>>("dense_shapes"), first_default));
  io::ParsedExamples parsed = parser.parse(serialized, {io::ParseMessages::Of::Examples, names}, c.pool());
  set_dense(c, set_sparse(c, 0, std::move(parsed.sparse)), std::move(parsed.dense));
}

}  // namespace

OpDef parse_example_op() {
  return {.name = "ParseExample",
          .inputs =
              "serialized:string; names:string; sparse_keys:Nsparse*string; dense_keys:Ndense*string; "
              "dense_defaults:Tdense",
          .outputs =
              "sparse_indices:Nsparse*int64; sparse_values:sparse_types; sparse_shapes:Nsparse*int64; "
              "dense_values:Tdense",
          .attrs =
              "Nsparse:int>=0; Ndense:int>=0; sparse_types:list(type){float,int64,string}>=0; "
              "Tdense:list(type){float,int64,string}>=0; dense_shapes:list(shape)>=0",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
