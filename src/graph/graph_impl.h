#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/node.h"
#include "weir/graph.h"

namespace weir {

// A scope of control dependencies: what nodes made inside must wait for, and the nodes made inside so far (their
// consumers wait through them already).
struct ControlScope {
  std::vector<Node*> operations;
  std::unordered_set<const Node*> inside;
};

struct VariableStore;

struct Graph::Impl {
  // Guards what sessions read while the program goes on building: the node list and output shapes.
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Node>> nodes;
  std::unordered_map<std::string, Node*> by_name;

  // Functions of imported graphs, kept as they came: a serialised FunctionDefLibrary.
  std::string function_library;

  // The construction context. Names are compared without case, as TensorFlow does, so that they can be file names.
  std::unordered_map<std::string, int> names_in_use;
  void mark_name(std::string name);  // as one that unique_name() must not give again
  std::string name_scope;
  std::vector<std::string> devices;
  std::vector<ControlScope> control;
  std::vector<Node*> colocate;
  // Name of a variable that is about to be made: without other colocation, nodes of its initial value stand beside it.
  std::string beside;
  std::shared_ptr<VariableStore> variable_store;  // see nn/variable_scope.cc
  std::optional<int64_t> seed;
  std::map<std::string, std::vector<std::any>, std::less<>> collections;
  // When set, new nodes carry this line instead of the one where they are made: composed functions and gradients
  // blame the line of the program that asked for them.
  std::optional<SourceLine> line;
};

// Makes nodes of a composed function carry the caller's line.
class LineScope {
 public:
  LineScope(Graph& graph, SourceLine line);
  ~LineScope() { slot_ = std::move(saved_); }
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

 private:
  std::optional<SourceLine>& slot_;
  std::optional<SourceLine> saved_;
};

SourceLine source_line(const SourceLocation& where);

// A literal as a tensor of the given type; throws InvalidArgument when a number does not fit or is of another kind.
Tensor convert_literal(const Tensor& literal, DType dtype);
// The type that a literal takes when nothing else decides: int32, float, bool or string.
DType default_literal_type(const Tensor& literal);

// Infers the outputs' shapes of `node`, whose inputs, attributes and output types are set.
void infer_shapes(Node& node);

}  // namespace weir
