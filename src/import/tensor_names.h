#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/plan.h"

namespace weir {

// What the names in a function's signature and in the inputs of its nodes stand for. Everything throws InvalidArgument.

// The functions of a graph, by name.
using FunctionLibrary = std::unordered_map<std::string, const proto::FunctionDef*>;
using ArgDefs = google::protobuf::RepeatedPtrField<proto::OpDef::ArgDef>;
using DataTypes = std::vector<proto::DataType>;

// The outputs of a node, or the arguments of a function, that one name stands for.
struct PortRange {
  int first = 0, count = 1;
};
using PortRanges = std::map<std::string, PortRange, std::less<>>;

bool is_call_op(const std::string& op);  // that names its function as an attribute

// The types of a function's arguments or results for the attributes of a call, and where each name's stand.
DataTypes flat_types(const ArgDefs& args, const ImportFunction& function, PortRanges& ranges);
// The node's attribute that is a list of types.
DataTypes types_of(const ImportNode& node, const std::string& attr);
// Where the outputs that a signature names stand among the node's outputs.
PortRanges output_ranges(const ImportNode& node, const FunctionLibrary& library);

// The tensors inside one use of a function.
struct FunctionTensors {
  const ImportFunction& function;
  const std::vector<ImportSource>& args;   // what the call gives
  PortRanges arguments = {};               // by their names
  std::map<int, PortRanges> outputs = {};  // of the nodes that the function added

  // "argument", "argument:1", "node:output" or "node:output:1"; without a number, all that the name stands for.
  std::vector<ImportSource> find(std::string_view text) const;
  // What "^name" waits for: a node, or those that give an argument.
  std::vector<ImportSource> find_control(const std::string& name) const;
};

}  // namespace weir
