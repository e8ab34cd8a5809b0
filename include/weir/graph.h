#pragma once

#include <any>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/attr.h"
#include "weir/dtype.h"
#include "weir/error.h"
#include "weir/export.h"
#include "weir/shape.h"
#include "weir/source_location.h"
#include "weir/tensor.h"

namespace weir {

class Graph;
class Node;
class Output;
class Variable;
class VariableScope;
struct GetVariableOptions;
struct VariableScopeOptions;

// A node of a graph: a cheap handle, valid while the graph lives.
class WEIR_API Operation {
 public:
  Operation() = default;
  explicit Operation(Node* node) : node_(node) {}

  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Operation&) const = default;
  Node* node() const { return node_; }

  Graph& graph() const;
  const std::string& name() const;
  const std::string& type() const;    // "MatMul"
  const std::string& device() const;  // as asked for; empty when the placer may choose
  const AttrMap& attrs() const;
  const SourceLine& line() const;  // where the program made it
  int inputs() const;
  Output input(int index) const;
  std::vector<Operation> control_inputs() const;
  int outputs() const;
  Output output(int index = 0) const;  // throws OutOfRange

 private:
  Node* node_ = nullptr;
};

// A symbolic tensor: one output of a node. It has operators (see ops.h) and knows its graph, type and shape.
class WEIR_API Output {
 public:
  Output() = default;
  Output(Node* node, int index) : node_(node), index_(index) {}

  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Output&) const = default;
  Node* node() const { return node_; }
  int index() const { return index_; }

  Graph& graph() const;
  Operation op() const { return Operation(node_); }
  std::string name() const;  // "MatMul:0"
  DType dtype() const;
  bool is_ref() const;                       // a reference to a variable (TensorFlow's Ref types)
  const Shape& shape() const;                // what is known when the graph is built
  void set_shape(const Shape& shape) const;  // adds knowledge; throws InvalidArgument when it contradicts

 private:
  Node* node_ = nullptr;
  int index_ = 0;
};

// A number or a nested list of numbers, as written in the program.
class WEIR_API Literal {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Literal(T number) : tensor_(to_literal(number)) {}  // NOLINT
  Literal(const char* text) : tensor_(text) {}                                         // NOLINT
  Literal(std::string text) : tensor_(std::move(text)) {}                              // NOLINT
  Literal(std::initializer_list<Literal> list);                                        // NOLINT
  const Tensor& tensor() const { return tensor_; }

 private:
  // Numbers are kept wide (int64, double, bool) until the type they meet is known.
  template <class T>
  static Tensor to_literal(T number) {
    if constexpr (std::is_same_v<T, bool>) {
      return Tensor(number);
    } else if constexpr (std::is_integral_v<T>) {
      return Tensor(static_cast<int64_t>(number));
    } else {
      return Tensor(static_cast<double>(number));
    }
  }
  Tensor tensor_;
};

// An argument of an operation: an Output, or a value that becomes a constant of the graph. It remembers the line of the
// program where the conversion happened, which is how errors know the user's line without an extra argument.
class WEIR_API In {
 public:
  using Where = SourceLocation;
  In(const Output& output, Where where = Where::current()) : output_(output), where_(where) {}  // NOLINT
  In(const Variable& variable, Where where = Where::current());                                 // NOLINT
  In(const Tensor& value, Where where = Where::current()) : value_(value), where_(where) {}     // NOLINT
  template <class T>
  requires std::is_arithmetic_v<T> In(T number, Where where = Where::current())  // NOLINT
      : value_(Literal(number).tensor()), weak_(true), where_(where) {}
  In(const char* text, Where where = Where::current()) : value_(text), where_(where) {}         // NOLINT
  In(const std::string& text, Where where = Where::current()) : value_(text), where_(where) {}  // NOLINT
  In(std::initializer_list<Literal> list, Where where = Where::current())                       // NOLINT
      : value_(Literal(list).tensor()), weak_(true), where_(where) {}
  template <class T>
  requires(dtype_of<T> != DType::Invalid) In(const std::vector<T>& values, Where where = Where::current())
      : value_(values), where_(where) {}                   // NOLINT
  In(const Shape& shape, Where where = Where::current());  // NOLINT: an int32 vector; throws when not fully known

  const Output& output() const { return output_; }  // empty for a value
  const Tensor& value() const { return value_; }
  bool weak() const { return weak_; }  // a literal whose type follows its neighbours
  Where where() const { return where_; }

 private:
  Output output_;
  Tensor value_;
  bool weak_ = false;
  Where where_;
};

// A list of arguments: concat({a, b}, 0).
class WEIR_API InList {
 public:
  InList(std::initializer_list<In> values);                                           // NOLINT
  InList(std::vector<In> values);                                                     // NOLINT
  InList(const std::vector<Output>& values, In::Where where = In::Where::current());  // NOLINT
  InList(const InList&);
  InList(InList&&) noexcept;
  InList& operator=(const InList&);
  InList& operator=(InList&&) noexcept;
  ~InList();
  const std::vector<In>& values() const { return values_; }

 private:
  std::vector<In> values_;
};

// Restores the graph's construction context when it goes out of scope.
class [[nodiscard]] WEIR_API Scope {
 public:
  Scope(std::string name, std::function<void()> leave);
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&&) = delete;
  ~Scope();
  const std::string& name() const { return name_; }  // of a name scope: "tower_0/"

 private:
  std::string name_;
  std::function<void()> leave_;
};

// Everything that makes a node. Inputs stand in the order of the operation's signature, lists flattened.
struct NodeArgs {
  std::string op;
  std::string name = {};    // empty: the operation's name. Made unique within the current name scope...
  bool exact_name = false;  // ...unless this says that `name` is the full and final name
  std::vector<Output> inputs = {};
  AttrMap attrs = {};  // defaults, and types that follow from the inputs, are filled in
  std::vector<Operation> control_inputs = {};
  std::string device = {};
  SourceLine line = {};
};

struct ImportOptions {
  std::string prefix = {};                                     // TensorFlow's Python default is "import"; here nothing
  std::vector<std::pair<std::string, Output>> input_map = {};  // "name:0" or "name" of the file -> tensor of this graph
  std::vector<std::string> return_elements = {};               // "name:0"; operations are wanted as "name"
};
struct ImportResult {
  std::vector<Output> outputs;        // one for every return element; of an operation its output 0 or nothing
  std::vector<Operation> operations;  // one for every return element
};

struct VariableOptions {
  bool trainable = true;
  std::vector<std::string> collections = {};  // besides "trainable_variables"; empty: "variables"
  DType dtype = DType::Invalid;               // Invalid: that of the initial value
  bool use_resource = false;                  // VarHandleOp instead of VariableV2
  bool validate_shape = true;                 // false: the shape of the initial value is not known, and may change
};

struct Seeds {
  int64_t seed = 0, seed2 = 0;
};

// A graph under construction. Building is for one thread at a time; sessions may run the graph meanwhile.
// Nodes live as long as the graph and never move.
class WEIR_API Graph {
 public:
  using Where = SourceLocation;
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Checks the arguments against the operation's signature, infers types and shapes and adds the node.
  // Throws InvalidArgument (naming the node and the line), NotFound for an unknown operation, FailedPrecondition when
  // the graph is finalized.
  Operation add(NodeArgs args);

  // Throws NotFound; find() gives an empty handle instead.
  Operation operation(std::string_view name) const;
  Operation find(std::string_view name) const;
  Output output(std::string_view name) const;  // "name:0"; throws
  std::vector<Operation> operations() const;   // in order of creation
  int64_t version() const;                     // number of nodes ever made

  // From now on the graph cannot change: whatever adds a node, or changes a collection, throws FailedPrecondition.
  // Thread-safe.
  void finalize();
  bool finalized() const;
  void unfinalize();  // for who must add nodes nevertheless, when nobody else counts on the graph

  // Names.
  Scope name_scope(std::string_view name);  // "" returns to the root; a name that ends in '/' is re-entered as it is
  std::string unique_name(std::string_view name, bool mark_as_used = true);
  const std::string& current_name_scope() const;  // "" or "a/b" without the last slash

  // Placement and order. A device is named wholly or in part; inner scopes add to outer ones and win where both speak,
  // and "" forgets them. Throws InvalidArgument for what is no device's name.
  Scope device(std::string_view device);
  // The same, decided for every node: the function sees what the node is made of, `device` being what the scopes inside
  // this one said, and gives the device that is to stand there.
  using DeviceFunction = std::function<std::string(const NodeArgs&)>;
  Scope device(DeviceFunction choose);
  Scope control_dependencies(std::span<const Operation> operations);
  Scope control_dependencies(std::initializer_list<Operation> operations) {
    return control_dependencies(std::span<const Operation>(operations.begin(), operations.size()));
  }
  Scope clear_control_dependencies();
  Scope colocate_with(Operation operation);
  // Operations with state that are made inside keep it in this container, unless they name one themselves: see
  // weir/resources.h. "" is the default container.
  Scope container(std::string_view name);

  // Seeds of the random operations made from now on, as TensorFlow derives them.
  void set_random_seed(int64_t seed);
  Seeds next_seeds(std::optional<int64_t> op_seed) const;

  // Collections hold whatever belongs together: operations, outputs, variables, strings.
  void add_to_collection(std::string_view name, std::any value);
  const std::vector<std::any>& collection(std::string_view name) const;
  std::vector<std::string> collection_names() const;
  void clear_collection(std::string_view name);

  // The commonest nodes.
  Output placeholder(DType dtype, const Shape& shape = Shape::unknown(), std::string_view name = {},
                     Where where = Where::current());
  Output constant(const Tensor& value, std::string_view name = {}, Where where = Where::current());
  Output constant(Literal value, DType dtype, std::string_view name = {}, Where where = Where::current());
  Operation no_op(std::string_view name = {}, Where where = Where::current());
  // One operation that runs after all of these.
  Operation group(std::span<const Operation> operations, std::string_view name = {}, Where where = Where::current());

  // Variables. Writes to them are functions of state_ops.h.
  Variable variable(std::string_view name, const In& initial_value, const VariableOptions& options = {});
  std::vector<Variable> global_variables() const;
  std::vector<Variable> trainable_variables() const;
  // Gives every variable made so far its initial value.
  Operation global_variables_initializer(std::string_view name = "init", Where where = Where::current());

  // Variables that functions of a model share by name: see variable_scope.h.
  VariableScope variable_scope(std::string_view name, const VariableScopeOptions& options);
  VariableScope variable_scope(std::string_view name);
  VariableScope variable_scope();  // the current one
  Variable get_variable(std::string_view name, const Shape& shape, const GetVariableOptions& options,
                        Where where = Where::current());
  Variable get_variable(std::string_view name, const Shape& shape, Where where = Where::current());

  // TensorFlow's GraphDef, binary and text. Import throws InvalidArgument (naming the node) and leaves the graph as it
  // was when anything is wrong with the message.
  std::string to_graph_def() const;
  std::string to_graph_def_text() const;
  ImportResult import_graph_def(std::string_view bytes, const ImportOptions& options = {});
  ImportResult import_graph_def_text(std::string_view text, const ImportOptions& options = {});

  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Makes a node from arguments as a program writes them: values become constants ("MatMul/b"), literals take the type of
// their neighbours, list lengths and types become attributes. Used by every function of ops.h; programs use it for
// operations that have no function of their own.
class WEIR_API NodeBuilder {
 public:
  explicit NodeBuilder(std::string_view op, std::string_view name = {}, std::optional<In::Where> where = std::nullopt);
  ~NodeBuilder();
  NodeBuilder(const NodeBuilder&);
  NodeBuilder& operator=(const NodeBuilder&);
  NodeBuilder& graph(Graph& graph);  // needed only when no input is an Output
  NodeBuilder& input(const In& value);
  NodeBuilder& input(const InList& values);
  NodeBuilder& attr(std::string_view name, AttrValue value);
  NodeBuilder& control_input(Operation operation);
  Operation build();
  Output output(int index = 0) { return build().output(index); }

 private:
  struct Argument {
    std::vector<In> values;
    bool is_list;
  };
  std::string op_, name_;
  std::optional<In::Where> where_;
  Graph* graph_ = nullptr;
  std::vector<Argument> arguments_;
  AttrMap attrs_;
  std::vector<Operation> control_inputs_;
};

// A variable: its node, its initializer and a cached read. Converts to the read wherever an argument is wanted.
class WEIR_API Variable {
 public:
  Variable() = default;
  Variable(Output handle, Output value, Operation initializer, Output initial_value);

  explicit operator bool() const { return static_cast<bool>(handle_); }
  operator Output() const { return value_; }  // NOLINT
  Output handle() const { return handle_; }   // VariableV2's reference or VarHandleOp's resource
  Output value() const { return value_; }     // "W/read"
  Operation initializer() const { return initializer_; }
  Output initial_value() const { return initial_value_; }
  bool is_resource() const;
  const std::string& name() const;  // of the node: "layer1/weights"
  Graph& graph() const { return handle_.graph(); }
  DType dtype() const;
  const Shape& shape() const;

 private:
  Output handle_, value_;
  Operation initializer_;
  Output initial_value_;
};

}  // namespace weir
