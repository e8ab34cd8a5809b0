#pragma once

#include <string>
#include <vector>

#include "graph/op.h"
#include "weir/graph.h"

namespace weir {

struct Body;

// A node of a Graph. It is whole when the graph lists it; the building thread changes only this of it afterwards,
// holding the graph's lock (GraphStorage::mutex), as does whoever looks at a graph that another thread may be building:
//   - output_shapes gain knowledge (Output::set_shape);
//   - device is set once more, right after the node was listed, when device functions are to be asked;
//   - inputs of a node of a body become what the body sees instead: when its If or While is made, which lists what it
//     reads from around it, and when a gradient replaces what it reads of the forward body (bodies.h);
//   - an If or While gains inputs, outputs and the attributes that describe them when its gradient needs more of it.
//   Those
//     that it has stay what they are.
// Everything else never changes.
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
