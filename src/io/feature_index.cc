#include "io/feature_index.h"

#include <bit>
#include <functional>

#include "base/errors.h"

namespace weir::io {

FeatureIndex::FeatureIndex(std::vector<std::string> keys)
    : keys_(std::move(keys)), slots_(std::bit_ceil(2 * keys_.size() + 1), -1) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < keys_.size(); ++i) {
    size_t at = std::hash<std::string_view>()(keys_[i]) & mask;
    for (; slots_[at] >= 0; at = (at + 1) & mask) {
      if (keys_[static_cast<size_t>(slots_[at])] == keys_[i]) {
        throw invalid_argument("the feature '{}' is asked for twice", keys_[i]);
      }
    }
    slots_[at] = static_cast<int>(i);
  }
}

int FeatureIndex::find(std::string_view name) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = std::hash<std::string_view>()(name) & mask; slots_[at] >= 0; at = (at + 1) & mask) {
    if (keys_[static_cast<size_t>(slots_[at])] == name) return slots_[at];
  }
  return -1;
}

}  // namespace weir::io
