#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
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

// An attribute of a node: one of TensorFlow's kinds, or a list of them; std::get, std::get_if and std::visit read it.
// A class of its own, with its members in attr.cc: a variant of this many kinds takes a compiler a third of a second in
// every file that copies one.
using AttrKinds = std::variant<int64_t, float, bool, std::string, DType, Shape, Tensor, FunctionName,
                               std::vector<int64_t>, std::vector<float>, std::vector<bool>, std::vector<std::string>,
                               std::vector<DType>, std::vector<Shape>, std::vector<Tensor>, std::vector<FunctionName>>;
class WEIR_API AttrValue : public AttrKinds {
 public:
  AttrValue();  // 0
  AttrValue(const AttrValue&);
  AttrValue(AttrValue&&) noexcept;
  AttrValue& operator=(const AttrValue&);
  AttrValue& operator=(AttrValue&&) noexcept;
  ~AttrValue();

  AttrValue(int64_t value);                     // NOLINT
  AttrValue(int value);                         // NOLINT
  AttrValue(float value);                       // NOLINT
  AttrValue(std::string value);                 // NOLINT
  AttrValue(const char* value);                 // NOLINT
  AttrValue(DType value);                       // NOLINT
  AttrValue(Shape value);                       // NOLINT
  AttrValue(Tensor value);                      // NOLINT
  AttrValue(FunctionName value);                // NOLINT
  AttrValue(std::vector<int64_t> values);       // NOLINT
  AttrValue(std::vector<float> values);         // NOLINT
  AttrValue(std::vector<bool> values);          // NOLINT
  AttrValue(std::vector<std::string> values);   // NOLINT
  AttrValue(std::vector<DType> values);         // NOLINT
  AttrValue(std::vector<Shape> values);         // NOLINT
  AttrValue(std::vector<Tensor> values);        // NOLINT
  AttrValue(std::vector<FunctionName> values);  // NOLINT
  // Nothing but a bool: pointers would turn into one.
  template <std::same_as<bool> T>
  AttrValue(T value) : AttrValue(Truth{value}) {}  // NOLINT

 private:
  struct Truth {
    bool value;
  };
  AttrValue(Truth truth);  // NOLINT
};

// Attributes by name, sorted. Small: look-ups happen when nodes and plans are made, never while a plan runs.
class WEIR_API AttrMap {
 public:
  AttrMap();
  AttrMap(std::initializer_list<std::pair<const std::string, AttrValue>> values);
  AttrMap(const AttrMap&);
  AttrMap(AttrMap&&) noexcept;
  AttrMap& operator=(const AttrMap&);
  AttrMap& operator=(AttrMap&&) noexcept;
  ~AttrMap();

  void set(std::string_view name, AttrValue value);
  void erase(std::string_view name);
  const AttrValue* find(std::string_view name) const;  // null when absent
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
