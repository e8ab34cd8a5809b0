#include "distributed/part.h"

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "distributed/cluster.h"
#include "graph/graph_def.h"

namespace weir::distributed {
namespace {

const std::string kStepName = "_weir_step";

const proto::AttrValue& attr(const proto::NodeDef& node, const std::string& name) {
  auto found = node.attr().find(name);
  if (found == node.attr().end()) throw invalid_argument("node '{}' has no attribute {}", node.name(), name);
  return found->second;
}

proto::AttrValue& set_attr(proto::NodeDef& node, const std::string& name) { return (*node.mutable_attr())[name]; }

std::string key_of(const proto::NodeDef& node) {
  return rendezvous_key(attr(node, "send_device").s(), static_cast<uint64_t>(attr(node, "send_device_incarnation").i()),
                        attr(node, "recv_device").s(), attr(node, "tensor_name").s());
}

bool says(const proto::NodeDef& node, const std::string& attr) {
  auto found = node.attr().find(attr);
  return found != node.attr().end() && found->second.b();
}

// What the call that runs the part brings, or takes with its answer.
bool at_master(const proto::NodeDef& node) { return says(node, "client_terminated") && !says(node, kPartialAttr); }

bool is_send(const proto::NodeDef& node) { return node.op() == "_Send" || node.op() == "_HostSend"; }
bool is_recv(const proto::NodeDef& node) { return node.op() == "_Recv" || node.op() == "_HostRecv"; }

// Where a node of a function runs is the affair of whoever calls it; only the kind of device is its own.
void strip_task(proto::NodeDef& node) {
  if (node.device().empty()) return;
  DeviceSpec spec = DeviceSpec::parse(node.device());
  spec.job.reset();
  spec.replica.reset();
  spec.task.reset();
  node.set_device(spec.str());
}

// Turns TensorFlow's nodes into Weir's, which have the number of the step as an input.
class Rewriter {
 public:
  explicit Rewriter(const proto::GraphDef& given) : given_(given) {}

  proto::GraphDef graph;
  std::map<std::string, std::string> feeds, fetches;
  bool uses_step = false;

  void run() {
    *graph.mutable_versions() = given_.versions();
    *graph.mutable_library() = given_.library();
    for (const proto::NodeDef& node : given_.node()) by_name_.emplace(node.name(), &node);
    for (auto& function : *graph.mutable_library()->mutable_function()) {
      for (auto& node : *function.mutable_node_def()) strip_task(node);
    }
    for (const proto::NodeDef& node : given_.node()) {
      if (is_recv(node)) {
        add_recv(node);
      } else if (is_send(node)) {
        add_send(node);
      } else {
        *graph.add_node() = node;
      }
    }
    if (!uses_step) return;
    proto::NodeDef& step = *graph.add_node();
    step.set_name(kStepName);
    step.set_op("Placeholder");
    set_attr(step, "dtype").set_type(proto::DT_INT64);
    set_attr(step, "shape").mutable_shape();
  }

 private:
  void add_recv(const proto::NodeDef& node) {
    const std::string key = key_of(node);
    proto::NodeDef& made = *graph.add_node();
    made.set_name(node.name());
    made.set_device(node.device());
    const auto& type = attr(node, "tensor_type");
    if (at_master(node)) {
      made.set_op("Placeholder");
      set_attr(made, "dtype") = type;
      set_attr(made, "shape").mutable_shape()->set_unknown_rank(true);
      feeds[key] = node.name() + ":0";
      return;
    }
    made.set_op("_StepRecv");
    made.add_input(kStepName);
    for (const std::string& input : node.input()) {
      if (input.starts_with("^")) made.add_input(input);
    }
    set_attr(made, "T") = type;
    set_attr(made, "key").set_s(key);
    auto shape = node.attr().find(kShapeAttr);
    if (shape != node.attr().end()) set_attr(made, "shape") = shape->second;
    uses_step = true;
  }

  void add_send(const proto::NodeDef& node) {
    const std::string key = key_of(node);
    if (node.input_size() < 1) throw invalid_argument("node '{}' has nothing to send", node.name());
    if (at_master(node)) {
      const std::string& input = node.input(0);
      fetches[key] = input.find(':') == std::string::npos ? input + ":0" : input;
      return;
    }
    proto::NodeDef& made = *graph.add_node();
    made.set_name(node.name());
    made.set_device(node.device());
    made.set_op("_StepSend");
    made.add_input(kStepName);
    for (const std::string& input : node.input()) made.add_input(input);
    set_attr(made, "T") = attr(node, "T");
    set_attr(made, "key").set_s(key);
    uses_step = true;
    std::vector<Side> sides;
    std::set<std::string> seen;
    for (const std::string& input : node.input()) find_sides(input, seen, sides);
    if (!sides.empty()) add_dead_sends(made.name(), key, sides);
  }

  // One output of a Switch: what depends on it is there when the predicate says so.
  struct Side {
    const proto::NodeDef* split = nullptr;
    int port = 0;
  };

  // The Switches that a value depends on, the innermost first, one of each predicate.
  void find_sides(const std::string& input, std::set<std::string>& seen, std::vector<Side>& sides) const {
    if (!seen.insert(input).second) return;
    std::string name = input.starts_with("^") ? input.substr(1) : input;
    const int port = name.ends_with(":1") ? 1 : 0;
    if (const size_t colon = name.find(':'); colon != std::string::npos) name.resize(colon);
    auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    const proto::NodeDef& source = *found->second;
    if (source.op() == "Merge" || source.op() == "RefMerge") return;  // one of its inputs is there
    if ((source.op() == "Switch" || source.op() == "RefSwitch") && !input.starts_with("^") && source.input_size() > 1) {
      const bool known = std::any_of(sides.begin(), sides.end(),
                                     [&](const Side& side) { return side.split->input(1) == source.input(1); });
      if (!known) sides.push_back({&source, port});
    }
    for (const std::string& further : source.input()) find_sides(further, seen, sides);
  }

  // TensorFlow's masters cut between a Switch and who reads it. When the other side of a Switch runs, the value is
  // dead, and whoever receives it is told so. A Merge after both makes a conditional of the two, whose branches send.
  void add_dead_sends(const std::string& send, const std::string& key, const std::vector<Side>& sides) {
    std::string done = add_token(send + "/sent", send);
    for (size_t i = 0; i < sides.size(); ++i) {
      const auto& [split, port] = sides[i];
      proto::NodeDef& other = *graph.add_node();
      other.set_name(fmt::format("{}/other_side_{}", send, i));
      other.set_op("Identity");
      other.add_input(port == 1 ? split->name() : split->name() + ":1");
      set_attr(other, "T") = attr(*split, "T");
      proto::NodeDef& dead = *graph.add_node();
      dead.set_name(fmt::format("{}/dead_{}", send, i));
      dead.set_op("_StepSendDead");
      dead.add_input(kStepName);
      dead.add_input("^" + other.name());
      set_attr(dead, "key").set_s(key);
      const std::string said = add_token(dead.name() + "/sent", dead.name());
      proto::NodeDef& merge = *graph.add_node();
      merge.set_name(fmt::format("{}/either_{}", send, i));
      merge.set_op("Merge");
      merge.add_input(port == 1 ? said : done);
      merge.add_input(port == 1 ? done : said);
      set_attr(merge, "T").set_type(proto::DT_INT32);
      set_attr(merge, "N").set_i(2);
      done = merge.name();
    }
  }

  // A constant that is there when `after` has run.
  std::string add_token(const std::string& name, const std::string& after) {
    proto::NodeDef& token = *graph.add_node();
    token.set_name(name);
    token.set_op("Const");
    token.add_input("^" + after);
    set_attr(token, "dtype").set_type(proto::DT_INT32);
    proto::TensorProto& value = *set_attr(token, "value").mutable_tensor();
    value.set_dtype(proto::DT_INT32);
    value.mutable_tensor_shape();
    value.add_int_val(0);
    return name;
  }

  const proto::GraphDef& given_;
  std::map<std::string, const proto::NodeDef*> by_name_;
};

// What nobody of the part reads or waits for: running these runs everything.
std::vector<Operation> ends_of(const Graph& graph) {
  std::set<const Node*> read;
  std::vector<Operation> ends;
  for (const Operation& op : graph.operations()) {
    for (int i = 0; i < op.inputs(); ++i) read.insert(op.input(i).node());
    for (const Operation& control : op.control_inputs()) read.insert(control.node());
  }
  for (const Operation& op : graph.operations()) {
    if (!op.node()->body && !read.contains(op.node()) && op.node()->op->role != Role::Placeholder) ends.push_back(op);
  }
  return ends;
}

}  // namespace

Part::Part(const proto::GraphDef& graph, const SessionOptions& options) {
  Rewriter rewriter(graph);
  rewriter.run();
  import_graph(graph_, rewriter.graph, {});
  if (rewriter.uses_step) step_ = graph_.output(kStepName + ":0");
  feeds_ = std::move(rewriter.feeds);
  fetches_ = std::move(rewriter.fetches);
  for (const auto& [key, name] : fetches_) graph_.output(name);  // throws for what is not there
  targets_ = ends_of(graph_);
  session_ = std::make_unique<Session>(graph_, options);
}

std::shared_ptr<const Part::Variant> Part::variant(const std::vector<std::pair<std::string, Tensor>>& sends,
                                                   const std::vector<std::string>& receives) {
  auto same = [&](const std::shared_ptr<const Variant>& v) {
    return v->receives == receives && v->sends.size() == sends.size() &&
           std::equal(sends.begin(), sends.end(), v->sends.begin(),
                      [](const auto& send, const std::string& key) { return send.first == key; });
  };
  std::lock_guard lock(mutex_);
  auto known = std::find_if(variants_.begin(), variants_.end(), same);
  if (known != variants_.end()) return *known;
  CallableSpec spec{.targets = targets_};
  std::vector<std::string> send_keys;
  if (step_) spec.feeds.push_back(step_);
  for (const auto& [key, value] : sends) {
    auto feed = feeds_.find(key);
    if (feed == feeds_.end()) throw invalid_argument("the part receives nothing under the key '{}'", key);
    spec.feeds.push_back(graph_.output(feed->second));
    send_keys.push_back(key);
  }
  for (const std::string& key : receives) {
    auto fetch = fetches_.find(key);
    if (fetch == fetches_.end()) throw invalid_argument("the part sends nothing under the key '{}'", key);
    spec.fetches.push_back(graph_.output(fetch->second));
  }
  constexpr size_t kMostVariants = 64;
  if (variants_.size() >= kMostVariants) variants_.erase(variants_.begin());
  auto made = std::make_shared<const Variant>(Variant{send_keys, receives, session_->make_callable(spec)});
  variants_.push_back(made);
  return made;
}

std::vector<Tensor> Part::run(int64_t step, const std::vector<std::pair<std::string, Tensor>>& sends,
                              const std::vector<std::string>& receives, const RunOptions& options) {
  const std::shared_ptr<const Variant> chosen = variant(sends, receives);
  std::vector<Tensor> feeds, results(receives.size());
  feeds.reserve(sends.size() + 1);
  if (step_) feeds.emplace_back(step);
  for (const auto& [key, value] : sends) feeds.push_back(value);
  chosen->callable.call(feeds, results, options);
  return results;
}

}  // namespace weir::distributed
