#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/node.h"
#include "weir/device.h"
#include "weir/graph.h"

namespace weir {

// A scope of control dependencies: what nodes made inside must wait for, and the nodes made inside so far (their
// consumers wait through them already).
struct ControlScope {
  std::vector<Node*> operations;
  std::unordered_set<const Node*> inside;
};

// A scope of devices: a name that inner scopes add to, a function, or the end of what enclosing scopes say.
struct DeviceScope {
  enum class Kind { Name, Function, Forget };
  Kind kind = Kind::Forget;
  DeviceSpec spec = {};
  Graph::DeviceFunction function = {};
  // What a node made here gets when it says nothing itself: this scope and those around it, up to a function.
  DeviceSpec merged = {};
  bool has_function = false;  // a function has to be asked
};

// A part of a graph that runs only when control flow says so: a branch of an If, the condition or the body of a While.
// Its nodes are ordinary nodes that name it (Node::body). What it reads from around it needs no copy: it is listed
// among the parameters, and the plan of a body is made like that of a run, with its parameters fed and its results
// fetched.
struct Body {
  std::string name;                // of the function that it is in a GraphDef
  Body* outer = nullptr;           // the body that its If or While stands in; null at the top level
  bool is_loop = false;            // its nodes mean something else in every iteration; nobody outside may read them
  std::vector<Output> parameters;  // what is fed, in the order of the node's inputs (an If's predicate left out): its
                                   // own placeholders (loop variables), and tensors of enclosing bodies that it reads
  std::vector<Output> results;     // one for every output of the node; empty: nothing that anybody will read
  std::vector<Operation> targets;  // what runs with it for its effects alone
  std::vector<Node*> nodes;        // made in it directly, in order of creation
  const Body* gradient_of =
      nullptr;                  // the body whose gradient this computes, whose tensors it may read until it is done
  std::vector<Output> initial;  // while a loop is described: what its variables are before the first iteration

  bool encloses(const Body* other) const {  // itself included
    while (other && other != this) other = other->outer;
    return other == this;
  }
};

struct VariableStore;
class GradContext;

struct Graph::Impl {
  // Guards what sessions read while the program goes on building: the node list and output shapes.
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Node>> nodes;
  std::unordered_map<std::string, Node*> by_name;

  std::vector<std::unique_ptr<Body>> bodies;
  std::unordered_map<std::string, Body*> body_by_name;
  Body* body = nullptr;  // where new nodes go

  // Functions of imported graphs, kept as they came: a serialised FunctionDefLibrary.
  std::string function_library;

  // The construction context. Names are compared without case, as TensorFlow does, so that they can be file names.
  std::unordered_map<std::string, int> names_in_use;
  void mark_name(std::string name);  // as one that unique_name() must not give again
  std::string name_scope;
  std::vector<DeviceScope> devices;
  bool device_functions() const { return !devices.empty() && devices.back().has_function; }
  // The device of a node that is made now, when `own` is what is said of it alone and no function has to be asked.
  std::string device_of(const std::string& own) const;
  // Sets the device of a new node that stands in the graph already: device functions see it there.
  void ask_for_device(Node& node, const std::string& own);
  std::vector<ControlScope> control;
  std::vector<Node*> colocate;
  // Name of a variable that is about to be made: without other colocation, nodes of its initial value stand beside it.
  std::string beside;
  std::shared_ptr<VariableStore> variable_store;  // see nn/variable_scope.cc
  // See weir/custom_gradient.h: what new nodes of an operation are differentiated as, and the program's own rules.
  std::map<std::string, std::string> gradient_overrides;
  std::map<std::string, std::function<void(GradContext&)>> gradient_rules;
  std::optional<int64_t> seed;
  std::map<std::string, std::vector<std::any>, std::less<>> collections;
  // While gradients() walks: the nodes on its way, so that control flow differentiates no more than that.
  const std::unordered_set<const Node*>* differentiated = nullptr;
  bool colocate_gradients = false;  // ... and whether gradients stand beside what they are of
  // When set, new nodes carry this line instead of the one where they are made: composed functions and gradients
  // blame the line of the program that asked for them.
  std::optional<SourceLine> line;
};

// Puts new nodes into a body (null: the top level). Control dependencies of the scopes outside do not reach inside:
// they belong to the If or While.
class BodyScope {
 public:
  BodyScope(Graph& graph, Body* body)
      : impl_(graph.impl()), body_(std::exchange(impl_.body, body)), control_(std::exchange(impl_.control, {})) {}
  ~BodyScope() {
    impl_.body = body_;
    impl_.control = std::move(control_);
  }
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

 private:
  Graph::Impl& impl_;
  Body* body_;
  std::vector<ControlScope> control_;
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
