#pragma once

#include <string>
#include <vector>

#include "graph/op.h"
#include "weir/graph.h"

namespace weir {

struct Body;

// A node of a Graph. Written once when it is made (under the graph's lock), except for output shapes, which may gain
// knowledge later (set_shape) under that lock too.
class Node {
 public:
  Graph* graph = nullptr;
  int id = 0;  // position in order of creation
  std::string name;
  const Op* op = nullptr;
  AttrMap attrs;
  std::vector<Output> inputs;
  std::vector<Node*> control_inputs;
  std::vector<DType> output_types;
  std::vector<bool> output_refs;
  std::vector<Shape> output_shapes;
  std::string device;
  Body* body = nullptr;                 // the branch or loop that it is a part of; null at the top level
  std::vector<std::string> colocation;  // names of the nodes that this one must stand beside
  SourceLine line;

  [[noreturn]] void fail(Code code, const std::string& message) const {
    throw Error(code, message, op->name, name, line);
  }
};

// What a signature means for given attributes: the flat types of all inputs or outputs.
struct FlatArg {
  const ArgSpec* spec;
  DType type;
};
// Throws InvalidArgument when an attribute that the signature needs is absent or not of its kind.
std::vector<FlatArg> flatten_args(const std::vector<ArgSpec>& args, const AttrMap& attrs);

// The value of an output when it follows from constants and static shapes alone; an invalid tensor otherwise.
// Small results only: it never computes more than a few thousand elements.
Tensor constant_value(const Output& output);
// The same for an output that is a shape: sizes that are not known stay kUnknown.
Shape constant_value_as_shape(const Output& output);

}  // namespace weir
