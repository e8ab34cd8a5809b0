#pragma once

#include <map>
#include <string>

#include "graph/node.h"
#include "proto/graph.pb.h"

namespace weir {

// An attribute of functions that Weir wrote: their nodes have the names that they had in the graph; and one of an
// argument, which has that of the placeholder.
inline const std::string kFullNames = "_full_names", kUserSpecifiedName = "_user_specified_name";

// References to variables are inputs of an If or While here, not in a GraphDef: functions pass none.
bool is_passed(const Node& node, size_t input);
// Whether an output is one in a GraphDef too, and its number there: a While gives back what it gets.
bool is_written(const Output& output);
int written_port(const Output& output);

// The bodies of a graph's If and While nodes, and its functions, as the functions of a GraphDef. What a body reads from
// around it is an argument; a variable that it refers to is a node inside the function too, of the same shared name,
// for functions take no references. Nodes that neither a result nor an effect of the body needs are left out: a
// function would run them.
class FunctionWriter {
 public:
  // Adds to `library`, whose functions keep their names.
  explicit FunctionWriter(proto::FunctionDefLibrary& library);

  // Writes a node without its inputs. Functions that it names are added to the library first.
  void write_node(const Node& node, proto::NodeDef& def);
  // Adds a function, with all that it names; gives its name in the library.
  const std::string& write_function(const Body& function);

 private:
  class Scope;
  void write_functions(const Node& node, proto::NodeDef& def);  // those that its attributes name
  void write_body(const Body& body, const Node* owner);         // the owner of a function is nobody

  proto::FunctionDefLibrary& library_;
  std::map<std::string, const Body*> taken_;      // names of functions; null: of the library's own
  std::map<const Body*, std::string> functions_;  // what is written, or being written
};

}  // namespace weir
