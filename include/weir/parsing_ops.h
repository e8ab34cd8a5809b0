#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// What stands in records becomes tensors: examples, comma-separated values, packed bytes.
namespace weir {

// How a feature of examples becomes a tensor. Types are string, float32 and int64.

// A dense tensor of one shape for all examples; required unless it has a default.
struct FixedLenFeature {
  Shape shape;
  DType dtype;
  std::optional<Tensor> default_value = {};
};
// A list of any length, as a sparse tensor.
struct VarLenFeature {
  DType dtype;
};
// Rows of this shape, any number of them. Of a batch of examples they are padded with the default (0, ""), a scalar; of
// sequence examples they are the steps of a feature list, which is required unless it may be missing.
struct FixedLenSequenceFeature {
  Shape shape;
  DType dtype;
  bool allow_missing = false;
  std::optional<Tensor> default_value = {};
};
using FeatureSpec = std::variant<FixedLenFeature, VarLenFeature, FixedLenSequenceFeature>;
using FeatureSpecs = std::map<std::string, FeatureSpec>;

struct SparseOutput {
  Output indices, values, dense_shape;
};

// The tensors of the features, by name.
class WEIR_API ParsedFeatures {
 public:
  // Of a FixedLenFeature or FixedLenSequenceFeature. Both throw NotFound for a name that was not asked for, or is of
  // the other kind.
  Output operator[](const std::string& name) const;
  const SparseOutput& sparse(const std::string& name) const;

  std::map<std::string, Output> dense_features;
  std::map<std::string, SparseOutput> sparse_features;
};

// Features of a vector of serialised Examples, which become the first dimension.
//
//   auto example = parse_single_example(value, {{"image", FixedLenFeature{{}, string}},
//                                               {"label", FixedLenFeature{{}, int64}}});
//   Output label = example["label"];
//
// At run time a message that is none, and a feature that is missing, of another type or of another size, is
// InvalidArgument with the name of the feature and the number (and name, if given) of the example.
struct ParseExampleOptions {
  std::optional<In> names = {};  // of the examples, for messages
};
WEIR_API ParsedFeatures parse_example(const In& serialized, const FeatureSpecs& features,
                                      const ParseExampleOptions& options = {}, std::string_view name = {});
// Of a scalar.
WEIR_API ParsedFeatures parse_single_example(const In& serialized, const FeatureSpecs& features,
                                             std::string_view name = {});

// Features of the whole, FixedLenFeature and VarLenFeature, and of the steps, FixedLenSequenceFeature and
// VarLenFeature.
struct ParsedSequence {
  ParsedFeatures context, sequence;
};
WEIR_API ParsedSequence parse_single_sequence_example(const In& serialized, const FeatureSpecs& context_features,
                                                      const FeatureSpecs& sequence_features,
                                                      const In& example_name = "", std::string_view name = {});

// Columns of records of comma-separated values, each shaped like `records`. The defaults, scalars or vectors of one,
// say the types, and what an empty field becomes; an empty vector makes the field required.
struct DecodeCsvOptions {
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = "";              // means an empty field too
  std::vector<int64_t> select_cols = {};  // only these, ascending
};
WEIR_API std::vector<Output> decode_csv(const In& records, const std::vector<Tensor>& record_defaults,
                                        const DecodeCsvOptions& options = {}, std::string_view name = {});

// Examples written as JSON, as serialised messages.
WEIR_API Output decode_json_example(const In& json_examples, std::string_view name = {});
// What "ZLIB" or "GZIP" packed; DataLoss for damaged streams.
WEIR_API Output decode_compressed(const In& bytes, const std::string& compression_type = "",
                                  std::string_view name = {});
// As decode_raw(), of strings of any length: the first `fixed_length` bytes, or zeros behind them.
WEIR_API Output decode_padded_raw(const In& bytes, const In& fixed_length, DType out_type, bool little_endian = true,
                                  std::string_view name = {});

// Tensors as TensorProto messages.
WEIR_API Output serialize_tensor(const In& tensor, std::string_view name = {});
WEIR_API Output parse_tensor(const In& serialized, DType out_type, std::string_view name = {});

}  // namespace weir
