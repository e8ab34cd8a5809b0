#include "weir/attr.h"

#include "base/errors.h"

namespace weir {

AttrValue::AttrValue() = default;
AttrValue::AttrValue(const AttrValue&) = default;
AttrValue::AttrValue(AttrValue&&) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue&) = default;
AttrValue& AttrValue::operator=(AttrValue&&) noexcept = default;
AttrValue::~AttrValue() = default;

AttrValue::AttrValue(int64_t value) : AttrKinds(value) {}
AttrValue::AttrValue(int value) : AttrKinds(int64_t{value}) {}
AttrValue::AttrValue(float value) : AttrKinds(value) {}
AttrValue::AttrValue(Truth truth) : AttrKinds(truth.value) {}
AttrValue::AttrValue(std::string value) : AttrKinds(std::move(value)) {}
AttrValue::AttrValue(const char* value) : AttrKinds(std::string(value)) {}
AttrValue::AttrValue(DType value) : AttrKinds(value) {}
AttrValue::AttrValue(Shape value) : AttrKinds(std::move(value)) {}
AttrValue::AttrValue(Tensor value) : AttrKinds(std::move(value)) {}
AttrValue::AttrValue(FunctionName value) : AttrKinds(std::move(value)) {}
AttrValue::AttrValue(std::vector<int64_t> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<float> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<bool> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<std::string> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<DType> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<Shape> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<Tensor> values) : AttrKinds(std::move(values)) {}
AttrValue::AttrValue(std::vector<FunctionName> values) : AttrKinds(std::move(values)) {}

AttrMap::AttrMap() = default;
AttrMap::AttrMap(std::initializer_list<std::pair<const std::string, AttrValue>> values) : values_(values) {}
AttrMap::AttrMap(const AttrMap&) = default;
AttrMap::AttrMap(AttrMap&&) noexcept = default;
AttrMap& AttrMap::operator=(const AttrMap&) = default;
AttrMap& AttrMap::operator=(AttrMap&&) noexcept = default;
AttrMap::~AttrMap() = default;

void AttrMap::set(std::string_view name, AttrValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

void AttrMap::erase(std::string_view name) {
  if (auto it = values_.find(name); it != values_.end()) values_.erase(it);
}

const AttrValue* AttrMap::find(std::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

void AttrMap::bad_access(std::string_view name, bool present) {
  throw invalid_argument("attribute '{}' is {}", name, present ? "of another kind" : "missing");
}

}  // namespace weir
