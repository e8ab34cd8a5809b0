#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "weir/dtype.h"

namespace weir::io {

// A feature of an Example as it stands in the message: a list of byte strings, floats or integers that is not decoded
// yet. Points into the message.
struct WireFeature {
  DType dtype = DType::Invalid;  // String, Float32 or Int64; Invalid: a feature without a list
  std::string_view list;

  // How many values the list has; negative when it is damaged.
  int64_t count() const;
  // Writes them behind each other to `out`, which is an array of the feature's type with room for count().
  // REQUIRES: count() is not negative.
  void copy_to(void* out) const;
};

// Calls visit(name, feature) for each entry of a Features message, in the order of the file: an entry that comes later
// replaces one of the same name. False when the message is damaged; entries before the damage have been visited.
bool visit_features(std::string_view features,
                    FunctionRef<void(std::string_view name, const WireFeature& feature)> visit);

// The same for an Example message.
bool visit_example(std::string_view example,
                   FunctionRef<void(std::string_view name, const WireFeature& feature)> visit);

// The parts of a SequenceExample message: features of the whole, and lists of features by name. A list is visited by
// visit_feature_list.
bool visit_sequence_example(std::string_view message,
                            FunctionRef<void(std::string_view name, const WireFeature& feature)> visit_context,
                            FunctionRef<void(std::string_view name, std::string_view list)> visit_list);

// The features of a FeatureList message, from the first step to the last.
bool visit_feature_list(std::string_view list, FunctionRef<void(const WireFeature& feature)> visit);

}  // namespace weir::io
