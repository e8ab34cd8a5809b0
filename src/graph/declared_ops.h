#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"
#include "proto/op_def.pb.h"

namespace weir {

// A tensor of an operation that no table has: its type, and whether it is a reference.
struct DeclaredArg {
  DType type = DType::Invalid;
  bool is_ref = false;
};

// Operations that a program names itself, as TensorFlow's Graph.create_op lets it: nodes of them can be built, looked
// at, differentiated by a function that the program registers, written to and read from files, but not run. They have
// no shape function, and one signature for every combination of types and attributes.
//
// Returns what `NodeArgs::op` names it by; the node's type is `name`. Thread-safe; declarations live forever. Throws
// InvalidArgument for types and attributes that no signature can have.
std::string declare_op(std::string_view name, const std::vector<DeclaredArg>& inputs,
                       const std::vector<DeclaredArg>& outputs, const AttrMap& attrs);

// An operation that a program describes whole; find_op() knows it by its name from now on. False when there is an
// operation of that name already, which stays what it is. Thread-safe. Throws InvalidArgument for what is no signature.
bool register_op(const proto::OpDef& message);

// The operation of this name, or of the key that declare_op() gave; null when there is none. Thread-safe.
const Op* find_declared_op(std::string_view key);

}  // namespace weir
