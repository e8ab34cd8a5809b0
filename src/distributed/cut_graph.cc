#include "distributed/cut_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/errors.h"
#include "distributed/part_graph.h"
#include "graph/function_def.h"
#include "graph/node.h"
#include "ops/control/dataflow.h"
#include "tensor/tensor_proto.h"

namespace weir::distributed {
namespace {

proto::AttrValue& attr(proto::NodeDef& node, const std::string& name) { return (*node.mutable_attr())[name]; }

// "name", "name:3" or "^name", as in a message.
struct Source {
  int node = -1;
  int port = 0;
  bool control = false;
  auto operator<=>(const Source&) const = default;
};

Source parse_input(const SessionGraph& graph, const std::string& text) {
  Source source;
  source.control = text.starts_with("^");
  std::string name = source.control ? text.substr(1) : text;
  const size_t colon = name.rfind(':');
  if (!source.control && colon != std::string::npos) {
    source.port = std::stoi(name.substr(colon + 1));
    name.resize(colon);
  }
  source.node = graph.by_name.at(name);
  return source;
}

std::string input_text(const std::string& name, int port) {
  return port == 0 ? name : fmt::format("{}:{}", name, port);
}

Source source_of(const SessionGraph& graph, const Output& output) {
  auto found = graph.by_name.find(output.node()->name);
  if (found == graph.by_name.end() || output.node()->body) {
    output.node()->fail(
        Code::InvalidArgument,
        fmt::format("'{}' is a part of a branch or a loop: it can be neither fed nor fetched in a step of "
                    "several tasks",
                    output.name()));
  }
  return {found->second, written_port(output), false};
}

class Cutter {
 public:
  Cutter(const SessionGraph& graph, const StepSpec& step, const std::vector<bool>& needed, const Assignment& assignment,
         const CutNames& names)
      : graph_(graph), step_(step), needed_(needed), assignment_(assignment), names_(names) {
    for (size_t i = 0; i < step.feeds.size(); ++i) fed_.emplace(source_of(graph, step.feeds[i]), static_cast<int>(i));
    may_be_dead_ = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node* node) {
      return ops::dataflow_kind(*node->op) != ops::DataflowKind::None;
    });
  }

  std::vector<CutPart> run() {
    parts_.resize(assignment_.tasks.size());
    for (size_t p = 0; p < parts_.size(); ++p) {
      parts_[p].task = assignment_.tasks[p];
      *parts_[p].graph.mutable_versions() = graph_.def.versions();
      *parts_[p].graph.mutable_library() = graph_.def.library();
    }
    for (int i = 0; i < graph_.def.node_size(); ++i) {
      const int part = assignment_.task_of[static_cast<size_t>(i)];
      if (needed_[static_cast<size_t>(i)] && part != kEverywhere) add_node(i, part);
    }
    for (size_t i = 0; i < step_.fetches.size(); ++i) add_fetch(static_cast<int>(i));
    for (CutPart& part : parts_) drop_absent_neighbours(part.graph);
    return std::move(parts_);
  }

 private:
  const proto::NodeDef& def(int node) const { return graph_.def.node(node); }
  CutPart& part(int number) { return parts_[static_cast<size_t>(number)]; }
  const std::string& task(int number) const { return assignment_.tasks[static_cast<size_t>(number)]; }

  void place(proto::NodeDef& node, int number) {
    DeviceSpec spec = node.device().empty() ? DeviceSpec() : DeviceSpec::parse(node.device());
    DeviceSpec full = DeviceSpec::parse(task(number));
    full.type = spec.type;
    full.index = spec.index;
    if (names_.wants_full_devices(task(number))) {
      full.type = "CPU";
      full.index = full.index.value_or(0);
    }
    node.set_device(full.str());
  }

  std::string unique(const std::string& name) {
    std::string result;
    do {
      result = fmt::format("{}_S{}", name, names_.next_number());
    } while (graph_.by_name.contains(result));
    return result;
  }

  void add_node(int node, int number) {
    if (!added_.emplace(node, number).second) return;
    proto::NodeDef copy = def(node);
    copy.clear_input();
    place(copy, number);
    for (const std::string& input : def(node).input()) {
      const Source source = parse_input(graph_, input);
      if (source.control) {
        add_control(source.node, number, copy);
      } else {
        copy.add_input(local(source, number));
      }
    }
    *part(number).graph.add_node() = std::move(copy);
  }

  // Nobody stands beside a node that is not in the part.
  static void drop_absent_neighbours(proto::GraphDef& graph) {
    std::set<std::string> names;
    for (const proto::NodeDef& node : graph.node()) names.insert(node.name());
    for (proto::NodeDef& node : *graph.mutable_node()) {
      auto found = node.mutable_attr()->find("_class");
      if (found == node.mutable_attr()->end()) continue;
      proto::AttrValue::ListValue kept;
      for (const std::string& entry : found->second.list().s()) {
        if (!entry.starts_with("loc:@") || names.contains(entry.substr(5))) kept.add_s(entry);
      }
      if (kept.s_size() == 0) {
        node.mutable_attr()->erase("_class");
      } else {
        *found->second.mutable_list() = std::move(kept);
      }
    }
  }

  void add_control(int source, int number, proto::NodeDef& to) {
    if (fed_.contains({source, 0, false})) return;  // what is fed is there
    if (!needed_[static_cast<size_t>(source)]) return;
    const int from = assignment_.task_of[static_cast<size_t>(source)];
    if (from == kEverywhere || from == number) {
      if (from == kEverywhere) add_node(source, number);
      to.add_input("^" + def(source).name());
      return;
    }
    to.add_input("^" + received({source, 0, true}, from, number));
  }

  // What a part calls a value.
  std::string local(const Source& source, int number) {
    if (auto feed = fed_.find(source); feed != fed_.end()) return fed(feed->second, number);
    const int from = assignment_.task_of[static_cast<size_t>(source.node)];
    if (from == kEverywhere) add_node(source.node, number);
    if (from == kEverywhere || from == number) return input_text(def(source.node).name(), source.port);
    return received(source, from, number);
  }

  // The feed, which the master gives to every part that reads it.
  std::string fed(int feed, int number) {
    auto [known, is_new] = fed_in_.try_emplace({feed, number});
    if (!is_new) return known->second;
    const Output& output = step_.feeds[static_cast<size_t>(feed)];
    proto::NodeDef& node = *part(number).graph.add_node();
    node.set_name(unique(fmt::format("_recv_{}_{}", output.node()->name, output.index())));
    known->second = node.name();
    node.set_op("_Recv");
    // TensorFlow's tasks want both ends of what ends at the master to be their own.
    const std::string device = host_device(task(number));
    const std::string key = describe(node, device, names_.incarnation(task(number)), device,
                                     input_text(output.node()->name, output.index()), true);
    attr(node, "tensor_type").set_type(static_cast<proto::DataType>(output.dtype()));
    place(node, number);
    part(number).feeds.emplace_back(feed, key);
    return node.name();
  }

  // A value of another part: sent there, received here, once.
  std::string received(const Source& source, int from, int to) {
    auto [known, is_new] = received_.try_emplace({source, to});
    if (!is_new) return known->second;
    const proto::NodeDef& origin = def(source.node);
    std::string value = input_text(origin.name(), source.port);
    DType type = DType::Float32;
    Shape shape;
    std::string name = fmt::format("{}_{}", origin.name(), source.port);
    if (source.control) {
      // An order needs something to send.
      name = origin.name() + "_done";
      proto::NodeDef& nothing = *part(from).graph.add_node();
      nothing.set_name(unique("_nothing_" + origin.name()));
      nothing.set_op("Const");
      nothing.add_input("^" + origin.name());
      attr(nothing, "dtype").set_type(proto::DT_FLOAT);
      proto::TensorProto& empty = *attr(nothing, "value").mutable_tensor();
      empty.set_dtype(proto::DT_FLOAT);
      empty.mutable_tensor_shape()->add_dim()->set_size(0);
      shape = Shape{0};
      place(nothing, from);
      value = nothing.name();
    } else {
      const Output output = written_output(source);
      type = output.dtype();
      shape = output.shape();
      if (type == DType::Resource || type == DType::Variant) {
        output.node()->fail(Code::InvalidArgument, fmt::format("'{}' is a {} and cannot go from {} to {}",
                                                               output.name(), dtype_name(type), task(from), task(to)));
      }
    }
    const std::string tensor_name = fmt::format("edge_{}_{}", received_.size(), name);
    proto::NodeDef send, recv;
    send.set_name(unique("_send_" + name));
    send.set_op("_Send");
    send.add_input(value);
    attr(send, "T").set_type(static_cast<proto::DataType>(type));
    const std::string from_device = host_device(task(from)), to_device = host_device(task(to));
    const uint64_t incarnation = names_.incarnation(task(from));
    describe(send, from_device, incarnation, to_device, tensor_name, false);
    place(send, from);
    recv.set_name(unique("_recv_" + name));
    recv.set_op("_Recv");
    attr(recv, "tensor_type").set_type(static_cast<proto::DataType>(type));
    if (!may_be_dead_) shape_to_proto(shape, *attr(recv, kShapeAttr).mutable_shape());
    describe(recv, from_device, incarnation, to_device, tensor_name, false);
    place(recv, to);
    known->second = recv.name();
    *part(from).graph.add_node() = std::move(send);
    *part(to).graph.add_node() = std::move(recv);
    return known->second;
  }

  Output written_output(const Source& source) const {
    const Node& node = *graph_.nodes[static_cast<size_t>(source.node)];
    for (size_t i = 0; i < node.output_types.size(); ++i) {
      const Output output(const_cast<Node*>(&node), static_cast<int>(i));
      if (is_written(output) && written_port(output) == source.port) return output;
    }
    throw error(Code::Internal, "'{}' has no output {}", node.name, source.port);
  }

  std::string describe(proto::NodeDef& node, const std::string& from, uint64_t incarnation, const std::string& to,
                       const std::string& name, bool at_master) const {
    attr(node, "tensor_name").set_s(name);
    attr(node, "send_device").set_s(from);
    attr(node, "send_device_incarnation").set_i(static_cast<int64_t>(incarnation));
    attr(node, "recv_device").set_s(to);
    attr(node, "client_terminated").set_b(at_master);
    if (at_master && step_.partial) attr(node, kPartialAttr).set_b(true);
    return rendezvous_key(from, incarnation, to, name);
  }

  void add_fetch(int fetch) {
    const Output& output = step_.fetches[static_cast<size_t>(fetch)];
    const Source source = source_of(graph_, output);
    if (fed_.contains(source)) return;  // the master has it
    int from = assignment_.task_of[static_cast<size_t>(source.node)];
    if (from == kEverywhere) {
      from = 0;
      add_node(source.node, from);
    }
    const std::string name = input_text(output.node()->name, output.index());
    proto::NodeDef send;
    send.set_name(unique(fmt::format("_send_{}_{}", output.node()->name, output.index())));
    send.set_op("_Send");
    send.add_input(input_text(def(source.node).name(), source.port));
    attr(send, "T").set_type(static_cast<proto::DataType>(output.dtype()));
    const std::string device = host_device(task(from));
    const std::string key = describe(send, device, names_.incarnation(task(from)), device,
                                     fmt::format("{};fetch_{}", name, fetch).replace(name.size(), 1, "/"), true);
    place(send, from);
    *part(from).graph.add_node() = std::move(send);
    part(from).fetches.emplace_back(fetch, key);
  }

  const SessionGraph& graph_;
  const StepSpec& step_;
  const std::vector<bool>& needed_;
  const Assignment& assignment_;
  const CutNames& names_;
  std::vector<CutPart> parts_;
  bool may_be_dead_ = false;  // what goes from task to task: the graph has Switches of its own
  std::map<Source, int> fed_;
  std::set<std::pair<int, int>> added_;                     // nodes, by part
  std::map<std::pair<int, int>, std::string> fed_in_;       // by feed and part
  std::map<std::pair<Source, int>, std::string> received_;  // by value and part
};

}  // namespace

std::vector<bool> needed_nodes(const SessionGraph& graph, const StepSpec& step) {
  std::set<Source> fed;
  for (const Output& feed : step.feeds) fed.insert(source_of(graph, feed));
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<int> pending;
  auto need = [&](const Source& source) {
    if (fed.contains({source.node, source.port, false})) return;
    if (!needed[static_cast<size_t>(source.node)]) pending.push_back(source.node);
    needed[static_cast<size_t>(source.node)] = true;
  };
  for (const Output& fetch : step.fetches) need(source_of(graph, fetch));
  for (const Operation& target : step.targets) {
    auto found = graph.by_name.find(target.name());
    if (found == graph.by_name.end()) {
      target.node()->fail(Code::InvalidArgument, "a target inside of a branch or a loop cannot be run by itself");
    }
    need({found->second, 0, false});
  }
  while (!pending.empty()) {
    const int node = pending.back();
    pending.pop_back();
    for (const std::string& input : graph.def.node(node).input()) need(parse_input(graph, input));
    // Variables that only bodies refer to are no inputs of the message, but say where the node goes.
  }
  return needed;
}

std::vector<CutPart> cut_graph(const SessionGraph& graph, const StepSpec& step, const std::vector<bool>& needed,
                               const Assignment& assignment, const CutNames& names) {
  return Cutter(graph, step, needed, assignment, names).run();
}

}  // namespace weir::distributed
