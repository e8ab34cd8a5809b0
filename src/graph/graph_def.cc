#include "graph/graph_def.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/errors.h"
#include "graph/attr_proto.h"
#include "graph/graph_impl.h"
#include "graph/node.h"
#include "tensor/tensor_proto.h"

namespace weir {
namespace {

constexpr int kControl = -1;          // the "port" of a control input
constexpr int kRecursionLimit = 100;  // of messages within messages: protobuf's own limit for binary files

// "name", "name:3" or "^name".
struct TensorName {
  std::string_view node;
  int port = 0;
};

TensorName parse_tensor_name(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), kControl};
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 0};
  std::string_view digits = text.substr(colon + 1);
  int port = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.empty() || port < 0) {
    throw invalid_argument("'{}' is no tensor's name", text);
  }
  return {text.substr(0, colon), port};
}

bool is_valid_node_name(std::string_view name) {
  auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  auto inner = [&](char c) { return alnum(c) || c == '_' || c == '.' || c == '-' || c == '/'; };
  // Internal nodes begin with an underscore.
  return !name.empty() && !name.ends_with('/') && (alnum(name[0]) || name[0] == '.' || name[0] == '_') &&
         std::all_of(name.begin(), name.end(), inner);
}

Error blame(const Error& e, const proto::NodeDef& node) {
  return e.node().empty() ? Error(e.code(), e.message(), node.op(), node.name(), {}) : e;
}

// What a value that an older program never heard of must be for it to mean nothing.
bool is_blank(const proto::AttrValue& value) {
  switch (value.value_case()) {
    case proto::AttrValue::kI:
      return value.i() == 0;
    case proto::AttrValue::kF:
      return value.f() == 0;
    case proto::AttrValue::kB:
      return !value.b();
    case proto::AttrValue::kS:
      return value.s().empty();
    case proto::AttrValue::kList:
      return value.list().ByteSizeLong() == 0;
    default:
      return false;
  }
}

// Puts the graph back as it was unless the import is committed.
class Rollback {
 public:
  explicit Rollback(Graph::Impl& impl)
      : impl_(impl),
        nodes_(impl.nodes.size()),
        names_(impl.names_in_use),
        library_(impl.function_library),
        control_(std::exchange(impl.control, {})),
        colocate_(std::exchange(impl.colocate, {})),
        beside_(std::exchange(impl.beside, {})) {}
  ~Rollback() {
    // Scopes of the program do not reach into what is imported.
    impl_.control = std::move(control_);
    impl_.colocate = std::move(colocate_);
    impl_.beside = std::move(beside_);
    if (committed_) return;
    std::lock_guard lock(impl_.mutex);
    for (size_t i = nodes_; i < impl_.nodes.size(); ++i) impl_.by_name.erase(impl_.nodes[i]->name);
    for (const auto& body : impl_.bodies) {
      std::erase_if(body->nodes, [&](const Node* node) { return static_cast<size_t>(node->id) >= nodes_; });
    }
    impl_.nodes.resize(nodes_);
    impl_.names_in_use = std::move(names_);
    impl_.function_library = std::move(library_);
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  void commit() { committed_ = true; }

 private:
  Graph::Impl& impl_;
  size_t nodes_;
  std::unordered_map<std::string, int> names_;
  std::string library_;
  std::vector<ControlScope> control_;
  std::vector<Node*> colocate_;
  std::string beside_;
  bool committed_ = false;
};

class Importer {
 public:
  Importer(Graph& graph, const proto::GraphDef& message, const ImportOptions& options)
      : graph_(graph), message_(message), options_(options) {}

  ImportResult run() {
    check_versions();
    index_nodes();
    index_input_map();
    std::vector<int> order = topological_order();

    Rollback rollback(graph_.impl());
    if (!options_.prefix.empty()) prefix_ = graph_.name_scope(options_.prefix).name();
    add_library();
    for (int index : order) add_node(index);
    check_input_map();
    ImportResult result = return_elements();
    rollback.commit();
    return result;
  }

 private:
  const proto::NodeDef& node(int index) const { return message_.node(index); }

  void check_versions() const {
    const proto::VersionDef& versions = message_.versions();
    if (versions.min_consumer() > kGraphDefProducer) {
      throw invalid_argument("the graph asks for a consumer of version {}; this one is {}", versions.min_consumer(),
                             kGraphDefProducer);
    }
    for (int bad : versions.bad_consumers()) {
      if (bad == kGraphDefProducer) throw invalid_argument("the graph refuses consumers of version {}", bad);
    }
  }

  void index_nodes() {
    for (int i = 0; i < message_.node_size(); ++i) {
      const std::string& name = node(i).name();
      if (!is_valid_node_name(name)) {
        throw Error(Code::InvalidArgument, "this is not a valid operation name", node(i).op(), name, {});
      }
      if (!by_name_.emplace(name, i).second) {
        throw Error(Code::InvalidArgument, "two nodes have this name", node(i).op(), name, {});
      }
    }
    added_.resize(static_cast<size_t>(message_.node_size()));
  }

  void index_input_map() {
    for (const auto& [text, output] : options_.input_map) {
      TensorName name = parse_tensor_name(text);
      if (!output || &output.graph() != &graph_) {
        throw invalid_argument("the input map's value for '{}' is no tensor of this graph", text);
      }
      if (!mapped_.emplace(std::pair(std::string(name.node), name.port), output).second) {
        throw invalid_argument("the input map has '{}' twice", text);
      }
    }
  }

  const Output* mapped(const TensorName& name) {
    auto it = mapped_.find({std::string(name.node), name.port});
    if (it == mapped_.end()) return nullptr;
    used_.insert(it->first);
    return &it->second;
  }

  // Every node after its inputs; otherwise the order of the file.
  std::vector<int> topological_order() {
    std::vector<std::vector<int>> consumers(static_cast<size_t>(message_.node_size()));
    std::vector<int> waits(static_cast<size_t>(message_.node_size()));
    for (int i = 0; i < message_.node_size(); ++i) {
      for (int producer : producers(i)) {
        consumers[static_cast<size_t>(producer)].push_back(i);
        ++waits[static_cast<size_t>(i)];
      }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < message_.node_size(); ++i) {
      if (waits[static_cast<size_t>(i)] == 0) ready.push(i);
    }
    std::vector<int> order;
    while (!ready.empty()) {
      int index = ready.top();
      ready.pop();
      order.push_back(index);
      for (int consumer : consumers[static_cast<size_t>(index)]) {
        if (--waits[static_cast<size_t>(consumer)] == 0) ready.push(consumer);
      }
    }
    if (order.size() < waits.size()) refuse_cycle(waits);
    return order;
  }

  // The nodes of the file that a node waits for, once for each input.
  std::vector<int> producers(int index) {
    std::vector<int> found;
    bool control_seen = false;
    for (const std::string& text : node(index).input()) {
      try {
        TensorName name = parse_tensor_name(text);
        if (control_seen && name.port != kControl) {
          throw invalid_argument("input '{}' follows a control input", text);
        }
        control_seen |= name.port == kControl;
        if (mapped(name)) continue;
        auto it = by_name_.find(name.node);
        if (it == by_name_.end()) throw invalid_argument("input '{}' is not in the graph", text);
        found.push_back(it->second);
      } catch (const Error& e) {
        throw blame(e, node(index));
      }
    }
    return found;
  }

  // `waits` is positive for the nodes on a cycle and those behind one. Walking back among them must come round.
  [[noreturn]] void refuse_cycle(const std::vector<int>& waits) {
    auto stuck = [&](int i) { return waits[static_cast<size_t>(i)] > 0; };
    int at = 0;
    while (!stuck(at)) ++at;
    std::vector<int> path;
    std::set<int> seen;
    while (seen.insert(at).second) {
      path.push_back(at);
      std::vector<int> before = producers(at);
      at = *std::find_if(before.begin(), before.end(), stuck);
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    for (int i : path) {
      if (node(i).op() == "NextIteration" || node(i).op() == "RefNextIteration") {
        throw Error(Code::Unimplemented, "loops made of Merge and NextIteration cannot be imported", node(i).op(),
                    node(i).name(), {});
      }
    }
    std::string text;
    for (auto it = path.rbegin(); it != path.rend(); ++it) text += node(*it).name() + " -> ";
    throw Error(Code::InvalidArgument, "the node depends on itself: " + text + node(path.back()).name(), node(at).op(),
                node(at).name(), {});
  }

  void add_library() {
    std::string& kept = graph_.impl().function_library;
    proto::FunctionDefLibrary library;
    library.ParseFromString(kept);
    std::unordered_map<std::string, proto::FunctionDef> known;
    for (const auto& function : library.function()) known[function.signature().name()] = function;
    for (const auto& function : message_.library().function()) {
      auto [it, is_new] = known.emplace(function.signature().name(), function);
      if (!is_new && !google::protobuf::util::MessageDifferencer::Equals(it->second, function)) {
        throw invalid_argument("function '{}' differs from the one that the graph has", function.signature().name());
      }
      if (is_new) *library.add_function() = function;
    }
    for (const auto& gradient : message_.library().gradient()) *library.add_gradient() = gradient;
    kept = library.SerializeAsString();
  }

  std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }

  // Of a node that the file has; null before its turn.
  Operation added(std::string_view name) const { return added_[static_cast<size_t>(by_name_.find(name)->second)]; }

  Output output_of(const TensorName& name) {
    if (const Output* output = mapped(name)) return *output;
    Operation op = added(name.node);
    if (name.port >= op.outputs()) {
      throw invalid_argument("input '{}:{}' does not exist: the node has {} outputs", name.node, name.port,
                             op.outputs());
    }
    return op.output(name.port);
  }

  void add_node(int index) {
    const proto::NodeDef& def = node(index);
    try {
      const Op* op = find_op(def.op());
      if (!op) throw not_found("there is no operation of this type");
      NodeArgs args{.op = def.op(), .name = full_name(def.name()), .exact_name = true, .device = def.device()};
      for (const std::string& text : def.input()) {
        TensorName name = parse_tensor_name(text);
        if (name.port != kControl) {
          args.inputs.push_back(output_of(name));
        } else if (const Output* output = mapped(name)) {
          args.control_inputs.push_back(output->op());
        } else {
          args.control_inputs.push_back(added(name.node));
        }
      }
      for (const auto& [name, value] : def.attr()) read_attr(*op, name, value, args.attrs);
      added_[static_cast<size_t>(index)] = graph_.add(std::move(args));
    } catch (const Error& e) {
      throw blame(e, def);
    }
    graph_.impl().mark_name(full_name(def.name()));
  }

  void read_attr(const Op& op, const std::string& name, const proto::AttrValue& value, AttrMap& attrs) {
    const AttrSpec* spec = op.attr(name);
    // Programs newer than TensorFlow 1.15 write attributes that came later.
    bool newer = !spec && !name.starts_with('_') && message_.versions().producer() > kGraphDefProducer;
    if (newer && is_blank(value)) return;
    try {
      AttrValue read = attr_from_proto(value, spec, allowance_);
      if (name == "_class") read = prefixed_colocation(std::move(read));
      attrs.set(name, std::move(read));
    } catch (const Error& e) {
      throw Error(e.code(), "attribute '" + name + "': " + e.message());
    }
  }

  AttrValue prefixed_colocation(AttrValue value) const {
    auto* names = std::get_if<std::vector<std::string>>(&value);
    if (!names) throw invalid_argument("it must be a list of strings");
    for (std::string& entry : *names) {
      if (!entry.starts_with("loc:@")) continue;
      std::string other = entry.substr(5);
      if (!by_name_.contains(other)) throw invalid_argument("'{}' is not in the graph", other);
      entry = "loc:@" + full_name(other);
    }
    return value;
  }

  // A key that no input uses and no node of the file has is a mistake of the caller.
  void check_input_map() const {
    for (const auto& [key, output] : mapped_) {
      if (used_.contains(key)) continue;
      auto it = by_name_.find(key.first);
      if (it == by_name_.end() || key.second >= added(key.first).outputs()) {
        throw invalid_argument("the input map names '{}:{}', which is not in the graph", key.first, key.second);
      }
    }
  }

  ImportResult return_elements() {
    ImportResult result;
    for (const std::string& text : options_.return_elements) {
      TensorName name = parse_tensor_name(text);
      bool is_tensor = text.find(':') != std::string::npos;
      const Output* replaced = is_tensor ? mapped(name) : nullptr;
      auto it = by_name_.find(name.node);
      if (name.port == kControl || (it == by_name_.end() && !replaced)) {
        throw invalid_argument("the return element '{}' is not in the graph", text);
      }
      Operation op = replaced ? replaced->op() : added(name.node);
      if (!replaced && is_tensor && name.port >= op.outputs()) {
        throw invalid_argument("the return element '{}' does not exist: the node has {} outputs", text, op.outputs());
      }
      result.operations.push_back(op);
      result.outputs.push_back(replaced ? *replaced : op.outputs() > name.port ? op.output(name.port) : Output());
    }
    return result;
  }

  Graph& graph_;
  const proto::GraphDef& message_;
  const ImportOptions& options_;
  std::string prefix_;  // "" or "import/"
  std::map<std::string, int, std::less<>> by_name_;
  std::map<std::pair<std::string, int>, Output> mapped_;
  std::set<std::pair<std::string, int>> used_;
  std::vector<Operation> added_;  // by position in the file
  ExpansionAllowance allowance_;
};

// Keeps the first message of the text parser.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

void node_to_proto(const Node& node, proto::NodeDef& message) {
  message.set_name(node.name);
  message.set_op(node.op->name);
  message.set_device(node.device);
  for (const Output& input : node.inputs) {
    const std::string& name = input.node()->name;
    message.add_input(input.index() == 0 ? name : name + ":" + std::to_string(input.index()));
  }
  std::set<std::string> controls;
  for (const Node* control : node.control_inputs) controls.insert("^" + control->name);
  for (const std::string& control : controls) message.add_input(control);
  for (const auto& [name, value] : node.attrs) attr_to_proto(value, (*message.mutable_attr())[name]);
}

void graph_to_proto(const Graph& graph, proto::GraphDef& message) {
  for (const Operation& op : graph.operations()) node_to_proto(*op.node(), *message.add_node());
  message.mutable_versions()->set_producer(kGraphDefProducer);
  message.mutable_versions()->set_min_consumer(kGraphDefMinConsumer);
  const std::string& library = graph.impl().function_library;
  if (!library.empty()) message.mutable_library()->ParseFromString(library);
}

ImportResult import_graph(Graph& graph, const proto::GraphDef& message, const ImportOptions& options) {
  return Importer(graph, message, options).run();
}

namespace {

std::string serialized(const proto::GraphDef& message) {
  if (message.ByteSizeLong() > INT32_MAX) {
    throw invalid_argument("the graph takes {} bytes as a GraphDef; protocol buffers end at 2 GiB",
                           message.ByteSizeLong());
  }
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // the same graph gives the same bytes
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace

std::string Graph::to_graph_def() const {
  proto::GraphDef message;
  graph_to_proto(*this, message);
  return serialized(message);
}

std::string graph_def_with_shapes(const Graph& graph) {
  proto::GraphDef message;
  graph_to_proto(graph, message);
  for (proto::NodeDef& node : *message.mutable_node()) {
    const Operation operation = graph.operation(node.name());
    proto::AttrValue::ListValue& shapes = *(*node.mutable_attr())["_output_shapes"].mutable_list();
    shapes.clear_shape();  // of an imported graph that had the attribute
    for (int i = 0; i < operation.outputs(); ++i) shape_to_proto(operation.output(i).shape(), *shapes.add_shape());
  }
  return serialized(message);
}

std::string Graph::to_graph_def_text() const {
  proto::GraphDef message;
  graph_to_proto(*this, message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

ImportResult Graph::import_graph_def(std::string_view bytes, const ImportOptions& options) {
  proto::GraphDef message;
  google::protobuf::LogSilencer silence;  // what is wrong is said by the exception, not on the terminal
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw invalid_argument("these {} bytes are no GraphDef", bytes.size());
  }
  return import_graph(*this, message, options);
}

ImportResult Graph::import_graph_def_text(std::string_view text, const ImportOptions& options) {
  proto::GraphDef message;
  FirstError first_error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&first_error);
  parser.SetRecursionLimit(kRecursionLimit);
  if (!parser.ParseFromString(std::string(text), &message)) {
    throw invalid_argument("the text is no GraphDef: {}", first_error.text());
  }
  return import_graph(*this, message, options);
}

}  // namespace weir
