#include "base/errors.h"
#include "weir/parsing_ops.h"

namespace weir {
namespace {

using Strings = std::vector<std::string>;

// Descriptions of features sorted into the lists that operations take.
struct Lists {
  Strings sparse_keys, dense_keys, missing_allowed;
  std::vector<DType> sparse_types, dense_types;
  std::vector<Shape> dense_shapes;
  std::vector<In> defaults;

  std::vector<In> sparse_key_inputs() const { return {sparse_keys.begin(), sparse_keys.end()}; }
  std::vector<In> dense_key_inputs() const { return {dense_keys.begin(), dense_keys.end()}; }
};

Tensor scalar_zero(DType dtype) { return dtype == DType::String ? Tensor("") : Tensor::zeros(dtype, Shape{}); }

struct Sort {
  Lists& lists;
  const std::string& key;
  bool steps;  // of a sequence example

  void operator()(const VarLenFeature& feature) const {
    lists.sparse_keys.push_back(key);
    lists.sparse_types.push_back(feature.dtype);
  }
  void operator()(const FixedLenFeature& feature) const {
    if (steps) throw invalid_argument("the feature list '{}' is a FixedLenSequenceFeature or a VarLenFeature", key);
    if (!feature.shape.is_known()) {
      throw invalid_argument("All dimensions of shape for feature {} need to be known but received {}.", key,
                             feature.shape.str());
    }
    add(feature.shape, feature.dtype);
    lists.defaults.push_back(feature.default_value ? feature.default_value->reshaped(feature.shape)
                                                   : Tensor(feature.dtype, Shape{0}));
  }
  void operator()(const FixedLenSequenceFeature& feature) const {
    if (steps) {
      add(feature.shape, feature.dtype);
      if (feature.allow_missing) lists.missing_allowed.push_back(key);
      return;
    }
    if (!feature.allow_missing) {
      throw invalid_argument("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.");
    }
    Shape rows{kUnknown};
    for (int64_t size : feature.shape.dims()) rows.append(size);
    add(rows, feature.dtype);
    lists.defaults.push_back(feature.default_value ? feature.default_value->reshaped(Shape{})
                                                   : scalar_zero(feature.dtype));
  }
  void add(const Shape& shape, DType dtype) const {
    lists.dense_keys.push_back(key);
    lists.dense_types.push_back(dtype);
    lists.dense_shapes.push_back(shape);
  }
};

Lists sorted(const FeatureSpecs& features, bool steps = false) {
  Lists lists;
  for (const auto& [key, feature] : features) std::visit(Sort{lists, key, steps}, feature);
  return lists;
}

// Takes the outputs of a node from `at` on: indices, values and shapes of sparse features, then dense ones.
ParsedFeatures take(const Operation& op, const Lists& lists, int& at) {
  ParsedFeatures parsed;
  const int sparse = static_cast<int>(lists.sparse_keys.size());
  for (int i = 0; i < sparse; ++i) {
    parsed.sparse_features[lists.sparse_keys[static_cast<size_t>(i)]] = {op.output(at + i), op.output(at + sparse + i),
                                                                         op.output(at + 2 * sparse + i)};
  }
  at += 3 * sparse;
  for (const std::string& key : lists.dense_keys) parsed.dense_features[key] = op.output(at++);
  return parsed;
}

void require_features(bool any) {
  if (!any) throw invalid_argument("Missing features.");
}

}  // namespace

Output ParsedFeatures::operator[](const std::string& name) const {
  auto found = dense_features.find(name);
  if (found == dense_features.end()) {
    throw not_found("'{}' is {}", name, sparse_features.contains(name) ? "a sparse feature" : "no feature");
  }
  return found->second;
}

const SparseOutput& ParsedFeatures::sparse(const std::string& name) const {
  auto found = sparse_features.find(name);
  if (found == sparse_features.end()) {
    throw not_found("'{}' is {}", name, dense_features.contains(name) ? "a dense feature" : "no feature");
  }
  return found->second;
}

ParsedFeatures parse_example(const In& serialized, const FeatureSpecs& features, const ParseExampleOptions& options,
                             std::string_view name) {
  require_features(!features.empty());
  const Lists lists = sorted(features);
  Operation op = NodeBuilder("ParseExample", name, serialized.where())
                     .input(serialized)
                     .input(options.names ? *options.names : In(Tensor(Strings())))
                     .input(InList(lists.sparse_key_inputs()))
                     .input(InList(lists.dense_key_inputs()))
                     .input(InList(lists.defaults))
                     .attr("sparse_types", lists.sparse_types)
                     .attr("dense_shapes", lists.dense_shapes)
                     .build();
  int at = 0;
  return take(op, lists, at);
}

ParsedFeatures parse_single_example(const In& serialized, const FeatureSpecs& features, std::string_view name) {
  require_features(!features.empty());
  const Lists lists = sorted(features);
  Operation op = NodeBuilder("ParseSingleExample", name, serialized.where())
                     .input(serialized)
                     .input(InList(lists.defaults))
                     .attr("num_sparse", static_cast<int64_t>(lists.sparse_keys.size()))
                     .attr("sparse_keys", lists.sparse_keys)
                     .attr("dense_keys", lists.dense_keys)
                     .attr("sparse_types", lists.sparse_types)
                     .attr("dense_shapes", lists.dense_shapes)
                     .build();
  int at = 0;
  return take(op, lists, at);
}

ParsedSequence parse_single_sequence_example(const In& serialized, const FeatureSpecs& context_features,
                                             const FeatureSpecs& sequence_features, const In& example_name,
                                             std::string_view name) {
  require_features(!context_features.empty() || !sequence_features.empty());
  const Lists context = sorted(context_features), steps = sorted(sequence_features, true);
  Operation op = NodeBuilder("ParseSingleSequenceExample", name, serialized.where())
                     .input(serialized)
                     .input(Tensor(steps.missing_allowed))
                     .input(InList(context.sparse_key_inputs()))
                     .input(InList(context.dense_key_inputs()))
                     .input(InList(steps.sparse_key_inputs()))
                     .input(InList(steps.dense_key_inputs()))
                     .input(InList(context.defaults))
                     .input(example_name)
                     .attr("context_sparse_types", context.sparse_types)
                     .attr("context_dense_shapes", context.dense_shapes)
                     .attr("feature_list_sparse_types", steps.sparse_types)
                     .attr("feature_list_dense_types", steps.dense_types)
                     .attr("feature_list_dense_shapes", steps.dense_shapes)
                     .build();
  int at = 0;
  ParsedSequence parsed;
  parsed.context = take(op, context, at);
  parsed.sequence = take(op, steps, at);
  return parsed;
}

std::vector<Output> decode_csv(const In& records, const std::vector<Tensor>& record_defaults,
                               const DecodeCsvOptions& options, std::string_view name) {
  Operation op = NodeBuilder("DecodeCSV", name, records.where())
                     .input(records)
                     .input(InList(std::vector<In>(record_defaults.begin(), record_defaults.end())))
                     .attr("field_delim", options.field_delim)
                     .attr("use_quote_delim", options.use_quote_delim)
                     .attr("na_value", options.na_value)
                     .attr("select_cols", options.select_cols)
                     .build();
  std::vector<Output> columns;
  for (int i = 0; i < static_cast<int>(record_defaults.size()); ++i) columns.push_back(op.output(i));
  return columns;
}

Output decode_json_example(const In& json_examples, std::string_view name) {
  return NodeBuilder("DecodeJSONExample", name, json_examples.where()).input(json_examples).output();
}

Output decode_compressed(const In& bytes, const std::string& compression_type, std::string_view name) {
  return NodeBuilder("DecodeCompressed", name, bytes.where())
      .input(bytes)
      .attr("compression_type", compression_type)
      .output();
}

Output decode_padded_raw(const In& bytes, const In& fixed_length, DType out_type, bool little_endian,
                         std::string_view name) {
  return NodeBuilder("DecodePaddedRaw", name, bytes.where())
      .input(bytes)
      .input(fixed_length)
      .attr("out_type", out_type)
      .attr("little_endian", little_endian)
      .output();
}

Output serialize_tensor(const In& tensor, std::string_view name) {
  return NodeBuilder("SerializeTensor", name, tensor.where()).input(tensor).output();
}

Output parse_tensor(const In& serialized, DType out_type, std::string_view name) {
  return NodeBuilder("ParseTensor", name, serialized.where()).input(serialized).attr("out_type", out_type).output();
}

}  // namespace weir
