#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op_def.h"
#include "weir/attr.h"

namespace weir {

enum class AttrKind { Int, Float, Bool, String, Type, Shape, Tensor, Func };

// One input or output of a signature: a single tensor, `number_attr` tensors of one type, or a tensor for each type of
// `type_list_attr`.
struct ArgSpec {
  std::string name;
  DType type = DType::Invalid;  // when fixed
  std::string type_attr, number_attr, type_list_attr;
  bool is_ref = false;
  bool on_host = false;  // lies in the host's memory wherever the node runs
  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
};

struct AttrSpec {
  std::string name;
  AttrKind kind = AttrKind::Int;
  bool is_list = false;
  std::vector<DType> allowed_types;          // empty: every type
  std::vector<std::string> allowed_strings;  // empty: every string
  std::optional<int64_t> minimum;            // of the value, or of the list's length
  std::optional<AttrValue> default_value;
};

// A row of an operation table, parsed.
struct Op {
  const OpDef* def = nullptr;
  std::string name;
  std::vector<ArgSpec> inputs, outputs;
  std::vector<AttrSpec> attrs;
  bool stateful = false, commutative = false, aggregate = false, uninitialized_input = false;
  Role role = Role::None;
  Effect effect = Effect::None;  // never FromSignature

  const AttrSpec* attr(std::string_view name) const;
  bool has_ref_input() const;
  // The argument that a node's input or output of that number belongs to. REQUIRES: there is one.
  const ArgSpec& input_arg(size_t number, const AttrMap& attrs) const;
  const ArgSpec& output_arg(size_t number, const AttrMap& attrs) const;
  // The same inputs always give the same outputs and nothing else happens: such nodes may be folded, shared or dropped.
  bool pure() const { return !stateful && !has_ref_input(); }
};

// Throws InvalidArgument when the row does not parse (a mistake in a table, found by its test).
Op parse_op(const OpDef& def);
AttrSpec parse_attr(std::string_view text);

// The operation of that name, or null. Thread-safe; the result lives forever.
const Op* find_op(std::string_view name);
// Every row, in table order.
const std::vector<const OpDef*>& all_op_defs();

// A kind's name as messages print it: "int", "list(type)".
std::string attr_kind_name(AttrKind kind, bool is_list);
bool attr_matches(const AttrSpec& spec, const AttrValue& value);
std::string attr_to_string(const AttrValue& value);

}  // namespace weir
