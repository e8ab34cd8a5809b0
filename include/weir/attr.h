#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "weir/dtype.h"
#include "weir/export.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir {

// The name of a function and the attributes it is instantiated with.
struct WEIR_API FunctionName {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attrs;  // serialised AttrValue messages, by name
  bool operator==(const FunctionName&) const = default;
};

// An attribute of a node: one of TensorFlow's kinds, or a list of them.
using AttrValue = std::variant<int64_t, float, bool, std::string, DType, Shape, Tensor, FunctionName,
                               std::vector<int64_t>, std::vector<float>, std::vector<bool>, std::vector<std::string>,
                               std::vector<DType>, std::vector<Shape>, std::vector<Tensor>, std::vector<FunctionName>>;

// Attributes by name, sorted. Small: look-ups happen when nodes and plans are made, never while a plan runs.
class WEIR_API AttrMap {
 public:
  AttrMap() = default;
  AttrMap(std::initializer_list<std::pair<const std::string, AttrValue>> values) : values_(values) {}

  void set(std::string_view name, AttrValue value) { values_.insert_or_assign(std::string(name), std::move(value)); }
  void erase(std::string_view name) {
    if (auto it = values_.find(name); it != values_.end()) values_.erase(it);
  }
  const AttrValue* find(std::string_view name) const {
    auto it = values_.find(name);
    return it == values_.end() ? nullptr : &it->second;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // Throws InvalidArgument, naming the attribute, when it is absent or of another kind.
  template <class T>
  const T& get(std::string_view name) const {
    const AttrValue* value = find(name);
    const T* typed = value ? std::get_if<T>(value) : nullptr;
    if (!typed) bad_access(name, value != nullptr);
    return *typed;
  }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  size_t size() const { return values_.size(); }

 private:
  [[noreturn]] static void bad_access(std::string_view name, bool present);
  std::map<std::string, AttrValue, std::less<>> values_;
};

}  // namespace weir
