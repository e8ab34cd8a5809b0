#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "proto/graph.pb.h"
#include "weir/graph.h"

namespace weir {

// A GraphDef on its way into a graph: its nodes with their inputs found, functions put where they are used, and
// TensorFlow 1's Switch, Merge, Enter, Exit and NextIteration turned into branches and loops. Nothing here touches a
// graph; everything throws InvalidArgument (or what is said) that names the node, for input of any kind.

inline constexpr int kControlPort = -1;  // the "port" of a control input
inline constexpr int kTopLevel = -1;     // the "body" of nodes that stand where the import happens

// "name", "name:3" or "^name".
struct TensorName {
  std::string_view node;
  int port = 0;
};
TensorName parse_tensor_name(std::string_view text);

// A tensor: an output of a node of the plan, or a tensor that the caller gave instead of one.
struct ImportSource {
  int node = -1;    // index of a node...
  int mapped = -1;  // ...or else of an entry of the input map; neither: no tensor
  int port = 0;
  explicit operator bool() const { return node >= 0 || mapped >= 0; }
  auto operator<=>(const ImportSource&) const = default;
};

// One use of a function.
struct ImportFunction {
  std::string name;
  const google::protobuf::Map<std::string, proto::AttrValue>* attrs = nullptr;  // of the call
  const ImportFunction* caller = nullptr;                                       // where the call itself stands
  std::unordered_map<std::string, int> nodes = {};                              // by their names in the function
};

struct ImportNode {
  const proto::NodeDef* def = nullptr;  // its operation, attributes and device
  std::string name;                     // without the prefix of the import
  std::vector<ImportSource> inputs;
  std::vector<ImportSource> controls;
  int body = kTopLevel;
  int bodies[2] = {-1, -1};  // of an If: then, else; of a While: condition, body
  bool functional = false;   // an If or While of the file, whose inputs are its bodies' parameters
  std::vector<std::pair<std::string, int>> called = {};  // attributes that name functions it calls, and their bodies
  bool removed = false;                      // means nothing any more: others were made to read what it passed on
  const ImportFunction* function = nullptr;  // that it comes from; null: the file's own node
};

// What becomes a Body.
struct ImportBody {
  std::string name;
  int outer = kTopLevel;
  int owner = -1;  // the If or While
  bool is_loop = false;
  bool is_function = false;
  std::vector<ImportSource> parameters = {};  // of a loop: its placeholders; of a functional If or While: all
  std::vector<ImportSource> results = {};     // empty: no value here
  std::vector<int> targets = {};
};

struct ImportPlan {
  std::vector<ImportNode> nodes;  // first those of the file, in its order
  std::vector<ImportBody> bodies;
  std::unordered_map<std::string, int> by_name;  // of the file's own nodes
  std::map<ImportSource, ImportSource> aliases;  // outputs of removed nodes, and what to read instead
  std::unordered_set<std::string> used_functions;
  std::unordered_set<std::string> names;                 // of all nodes
  std::function<bool(const std::string&)> name_is_free;  // in the graph that is imported into

  std::vector<Output> mapped;  // the values of the input map

  // Nodes that the import adds by itself, and what nodes point to. Addresses stay.
  std::deque<proto::NodeDef> made;
  std::deque<ImportFunction> functions;

  ImportSource resolve(ImportSource source) const;
  std::string unique_name(std::string name);
  // A new node of this operation; the caller fills in inputs, body, and attributes of the definition returned in `def`.
  int add(std::string_view op, std::string name, int body, proto::NodeDef** def = nullptr);
  // `type` as attribute `attr` of a definition made here.
  static void set_type(proto::NodeDef& def, const std::string& attr, proto::DataType type);
};

// The node's attribute, that of the call where the function leaves it open; null when there is none.
const proto::AttrValue* import_attr(const ImportNode& node, const std::string& name);
// What a value that is left open in a function stands for. Throws when the call does not say.
const proto::AttrValue& bound_attr(const proto::AttrValue& value, const ImportFunction* function);
// Whether the tensor is a reference to a variable, as far as the signatures known here tell.
bool is_reference(const ImportPlan& plan, const ImportSource& source);

Error import_error(const ImportNode& node, Code code, const std::string& message);
// Completes an error with the node that it is about.
Error blame(const Error& e, const ImportNode& node);

// The nodes of the message with their inputs found among them or in the input map ("name" and port -> index).
using MappedNames = std::map<std::pair<std::string, int>, int>;
void read_nodes(const proto::GraphDef& message, const MappedNames& mapped, ImportPlan& plan);

// Puts the functions that If, While and calls name where they are used: a branch or loop becomes a body of its own for
// each use, a call is replaced by the nodes of its function.
void import_functions(const proto::GraphDef& message, ImportPlan& plan);

// Turns Switch, Merge, Enter, Exit, NextIteration and LoopCond, and their Ref forms, into If and While.
// Throws Unimplemented for what no program of tf.cond and tf.while_loop makes.
void import_control_flow(ImportPlan& plan);

// Turns the stacks on which TensorFlow 1 keeps what the gradient of a loop needs into lists that pass through the loops
// as variables. For a plan whose loops and conditionals are structured.
void import_stacks(ImportPlan& plan);

// Whether an input brings a loop's value from the iteration before: a Merge's, from NextIteration.
bool leads_back(const ImportPlan& plan, const ImportNode& reader, const ImportSource& source);

// Every node after what it reads and, for an If or While, what is in its bodies; otherwise the plan's order.
std::vector<int> import_order(const ImportPlan& plan);

}  // namespace weir
