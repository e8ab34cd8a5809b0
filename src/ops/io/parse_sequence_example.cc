#include "io/parse_sequence_example.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/io/parse_common.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

using Strings = std::vector<std::string>;

std::vector<io::DenseList> dense_lists(const NodeView& node, Strings keys,
                                       std::span<const std::string> may_be_missing) {
  const auto& types = node.attr<std::vector<DType>>("feature_list_dense_types");
  const auto& shapes = node.attr<std::vector<Shape>>("feature_list_dense_shapes");
  if (types.size() != keys.size() || shapes.size() != keys.size()) {
    throw invalid_argument("len(feature_list_dense_keys) != len(feature_list_dense_types): {} vs. {}, and {} shapes",
                           keys.size(), types.size(), shapes.size());
  }
  std::vector<io::DenseList> lists;
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool missing = std::find(may_be_missing.begin(), may_be_missing.end(), keys[i]) != may_be_missing.end();
    lists.push_back({std::move(keys[i]), types[i], shapes[i], missing});
  }
  return lists;
}

// What both operations do once they know their keys.
struct Keys {
  Strings context_sparse, context_dense, list_sparse, list_dense;
  std::span<const std::string> may_be_missing;
  int first_default;
};

void parse(KernelContext& c, Keys keys, const io::ParseMessages& messages) {
  const NodeView& node = c.node();
  const io::ExampleParser context(
      sparse_features(std::move(keys.context_sparse), node.attr<std::vector<DType>>("context_sparse_types")),
      dense_features(c, std::move(keys.context_dense), node.attr<std::vector<DType>>("Tcontext_dense"),
                     node.attr<std::vector<Shape>>("context_dense_shapes"), keys.first_default));
  const io::SequenceParser lists(
      sparse_features(std::move(keys.list_sparse), node.attr<std::vector<DType>>("feature_list_sparse_types")),
      dense_lists(node, std::move(keys.list_dense), keys.may_be_missing));
  const std::span<const std::string> serialized = strings_of(c, 0);
  io::ParsedExamples of_context = context.parse(serialized, messages, c.pool());
  io::ParsedSequences of_lists = lists.parse(serialized, messages);
  int output = set_sparse(c, 0, std::move(of_context.sparse));
  output = set_dense(c, output, std::move(of_context.dense));
  output = set_sparse(c, output, std::move(of_lists.sparse));
  output = set_dense(c, output, std::move(of_lists.dense));
  if (!messages.single()) set_dense(c, output, std::move(of_lists.lengths));
}

// `outer` is the dimension of the batch, or none.
int infer_parts(InferContext& c, const Shape& outer) {
  auto count = [&](std::string_view attr) { return static_cast<size_t>(c.attr<int64_t>(attr)); };
  int output = infer_sparse(c, 0, count("Ncontext_sparse"), outer.rank() + 1);
  output = infer_dense(c, output, c.attr<std::vector<Shape>>("context_dense_shapes"), outer);
  output = infer_sparse(c, output, count("Nfeature_list_sparse"), outer.rank() + 2);
  Shape steps = outer;
  steps.append(kUnknown);
  return infer_dense(c, output, c.attr<std::vector<Shape>>("feature_list_dense_shapes"), steps);
}

void infer_single(InferContext& c) {
  c.require_scalar(0);
  c.require_rank(1, 1);
  infer_parts(c, Shape{});
}

void cpu_single(KernelContext& c) {
  int input = 2;
  auto take = [&](std::string_view counts, std::string_view what) {
    const int64_t count = c.node().attr<int64_t>(counts);
    Strings keys = key_inputs(c, input, count, what);
    input += static_cast<int>(count);
    return keys;
  };
  Keys keys;
  keys.may_be_missing = strings_of(c, 1);
  keys.context_sparse = take("Ncontext_sparse", "context_sparse_keys");
  keys.context_dense = take("Ncontext_dense", "context_dense_keys");
  keys.list_sparse = take("Nfeature_list_sparse", "feature_list_sparse_keys");
  keys.list_dense = take("Nfeature_list_dense", "feature_list_dense_keys");
  keys.first_default = input;
  const std::span<const std::string> name = strings_of(c, c.inputs() - 1);
  parse(c, std::move(keys), {io::ParseMessages::Of::SingleSequenceExample, name});
}

void infer_batch(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  const Shape outer = c.input(0).has_rank() ? c.input(0) : Shape{kUnknown};
  int output = infer_parts(c, outer);
  while (output < c.outputs()) c.set_output(output++, outer);
}

void cpu_batch(KernelContext& c) {
  const std::span<const std::string> serialized = strings_of(c, 0), names = strings_of(c, 1);
  if (!names.empty() && names.size() != serialized.size()) {
    throw invalid_argument("Expected len(debug_name) == len(serialized), but got: {} vs. {}", names.size(),
                           serialized.size());
  }
  auto keys_of = [&](std::string_view attr, std::string_view counts) {
    const auto& keys = c.node().attr<Strings>(attr);
    if (static_cast<int64_t>(keys.size()) != c.node().attr<int64_t>(counts)) {
      throw invalid_argument("{} ({}) must match the size of {} ({})", counts, c.node().attr<int64_t>(counts), attr,
                             keys.size());
    }
    return keys;
  };
  parse(c,
        {.context_sparse = keys_of("context_sparse_keys", "Ncontext_sparse"),
         .context_dense = keys_of("context_dense_keys", "Ncontext_dense"),
         .list_sparse = keys_of("feature_list_sparse_keys", "Nfeature_list_sparse"),
         .list_dense = keys_of("feature_list_dense_keys", "Nfeature_list_dense"),
         .may_be_missing = c.node().attr<Strings>("feature_list_dense_missing_assumed_empty"),
         .first_default = 2},
        {io::ParseMessages::Of::SequenceExamples, names});
}

}  // namespace

OpDef parse_single_sequence_example_op() {
  return {.name = "ParseSingleSequenceExample",
          .inputs =
              "serialized:string; feature_list_dense_missing_assumed_empty:string; "
              "context_sparse_keys:Ncontext_sparse*string; context_dense_keys:Ncontext_dense*string; "
              "feature_list_sparse_keys:Nfeature_list_sparse*string; "
              "feature_list_dense_keys:Nfeature_list_dense*string; context_dense_defaults:Tcontext_dense; "
              "debug_name:string",
          .outputs =
              "context_sparse_indices:Ncontext_sparse*int64; context_sparse_values:context_sparse_types; "
              "context_sparse_shapes:Ncontext_sparse*int64; context_dense_values:Tcontext_dense; "
              "feature_list_sparse_indices:Nfeature_list_sparse*int64; "
              "feature_list_sparse_values:feature_list_sparse_types; "
              "feature_list_sparse_shapes:Nfeature_list_sparse*int64; "
              "feature_list_dense_values:feature_list_dense_types",
          .attrs =
              "Ncontext_sparse:int>=0=0; Ncontext_dense:int>=0=0; Nfeature_list_sparse:int>=0=0; "
              "Nfeature_list_dense:int>=0=0; context_sparse_types:list(type){float,int64,string}>=0=[]; "
              "Tcontext_dense:list(type){float,int64,string}>=0=[]; "
              "feature_list_dense_types:list(type){float,int64,string}>=0=[]; "
              "context_dense_shapes:list(shape)>=0=[]; "
              "feature_list_sparse_types:list(type){float,int64,string}>=0=[]; "
              "feature_list_dense_shapes:list(shape)>=0=[]",
          .infer = infer_single,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_single>, .gives_outputs = true},
          .host_only = true};
}

OpDef parse_sequence_example_op() {
  return {.name = "ParseSequenceExample",
          .inputs = "serialized:string; debug_name:string; context_dense_defaults:Tcontext_dense",
          .outputs =
              "context_sparse_indices:Ncontext_sparse*int64; context_sparse_values:context_sparse_types; "
              "context_sparse_shapes:Ncontext_sparse*int64; context_dense_values:Tcontext_dense; "
              "feature_list_sparse_indices:Nfeature_list_sparse*int64; "
              "feature_list_sparse_values:feature_list_sparse_types; "
              "feature_list_sparse_shapes:Nfeature_list_sparse*int64; "
              "feature_list_dense_values:feature_list_dense_types; "
              "feature_list_dense_lengths:Nfeature_list_dense*int64",
          .attrs =
              "feature_list_dense_missing_assumed_empty:list(string)>=0; context_sparse_keys:list(string)>=0; "
              "context_dense_keys:list(string)>=0; feature_list_sparse_keys:list(string)>=0; "
              "feature_list_dense_keys:list(string)>=0; Ncontext_sparse:int>=0=0; Ncontext_dense:int>=0=0; "
              "Nfeature_list_sparse:int>=0=0; Nfeature_list_dense:int>=0=0; "
              "context_sparse_types:list(type){float,int64,string}>=0=[]; "
              "Tcontext_dense:list(type){float,int64,string}>=0=[]; "
              "feature_list_dense_types:list(type){float,int64,string}>=0=[]; "
              "context_dense_shapes:list(shape)>=0=[]; "
              "feature_list_sparse_types:list(type){float,int64,string}>=0=[]; "
              "feature_list_dense_shapes:list(shape)>=0=[]",
          .infer = infer_batch,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_batch>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
