#include "distributed/part_graph.h"

#include "base/errors.h"
#include "distributed/cluster.h"
#include "distributed/cut_control_flow.h"
#include "weir/device.h"

namespace weir::distributed {
namespace {

// TensorFlow's graphs from 2.4 on: its executors name the frames of loops in another way than before.
constexpr int kFirstWithNumberedFrames = 500;

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

// Masters of Weir's run a tf.cond in one task, and say what they know of values; those of TensorFlow's say nothing.
bool may_be_dead(const proto::NodeDef& recv) {
  return !says(recv, "client_terminated") && !recv.attr().contains(kShapeAttr);
}

// Where a node of a function runs is the affair of whoever calls it; only the kind of device is its own.
void strip_task(proto::NodeDef& node) {
  if (node.device().empty()) return;
  DeviceSpec spec = DeviceSpec::parse(node.device());
  spec.job.reset();
  spec.replica.reset();
  spec.task.reset();
  node.set_device(spec.str());
}

class Rewriter {
 public:
  Rewriter(const proto::GraphDef& given, PartGraph& made) : given_(given), made_(made) {}

  void run() {
    const CutControlFlow control_flow = find_cut_control_flow(given_, may_be_dead);
    tokens_ = control_flow.has_tokens;
    made_.is_cut = control_flow.is_cut;
    *made_.graph.mutable_versions() = given_.versions();
    *made_.graph.mutable_library() = given_.library();
    for (auto& function : *made_.graph.mutable_library()->mutable_function()) {
      for (auto& node : *function.mutable_node_def()) strip_task(node);
    }
    for (const proto::NodeDef& node : given_.node()) {
      if (is_recv(node)) {
        add_recv(node);
      } else if (is_send(node)) {
        add_send(node);
      } else {
        *made_.graph.add_node() = node;
      }
    }
    if (!made_.uses_step) return;
    proto::NodeDef& step = *made_.graph.add_node();
    step.set_name(PartGraph::kStep);
    step.set_op("Placeholder");
    set_attr(step, "dtype").set_type(proto::DT_INT64);
    set_attr(step, "shape").mutable_shape();
  }

 private:
  void add_recv(const proto::NodeDef& node) {
    const auto& type = attr(node, "tensor_type");
    if (ends_at_master(node)) {
      proto::NodeDef& fed = *made_.graph.add_node();
      fed.set_name(node.name());
      fed.set_device(node.device());
      fed.set_op("Placeholder");
      set_attr(fed, "dtype") = type;
      set_attr(fed, "shape").mutable_shape()->set_unknown_rank(true);
      made_.feeds[key_of(node)] = node.name() + ":0";
      return;
    }
    proto::NodeDef& recv = add_exchange(node, tokens_ ? "_TokenRecv" : "_StepRecv");
    for (const std::string& input : node.input()) {
      if (input.starts_with("^")) recv.add_input(input);
    }
    set_attr(recv, "T") = type;
    auto shape = node.attr().find(kShapeAttr);
    if (shape != node.attr().end() && !tokens_) set_attr(recv, "shape") = shape->second;
  }

  void add_send(const proto::NodeDef& node) {
    if (node.input_size() < 1) throw invalid_argument("node '{}' has nothing to send", node.name());
    if (ends_at_master(node)) {
      const std::string& input = node.input(0);
      made_.fetches[key_of(node)] = input.find(':') == std::string::npos ? input + ":0" : input;
      return;
    }
    proto::NodeDef& send = add_exchange(node, tokens_ ? "_TokenSend" : "_StepSend");
    for (const std::string& input : node.input()) send.add_input(input);
    set_attr(send, "T") = attr(node, "T");
  }

  proto::NodeDef& add_exchange(const proto::NodeDef& node, const char* op) {
    proto::NodeDef& made = *made_.graph.add_node();
    made.set_name(node.name());
    made.set_device(node.device());
    made.set_op(op);
    made.add_input(PartGraph::kStep);
    set_attr(made, "key").set_s(key_of(node));
    if (tokens_) set_attr(made, "numbered_frames").set_b(given_.versions().producer() >= kFirstWithNumberedFrames);
    made_.uses_step = true;
    return made;
  }

  const proto::GraphDef& given_;
  PartGraph& made_;
  bool tokens_ = false;  // what is exchanged may be dead
};

}  // namespace

bool is_send(const proto::NodeDef& node) { return node.op() == "_Send" || node.op() == "_HostSend"; }
bool is_recv(const proto::NodeDef& node) { return node.op() == "_Recv" || node.op() == "_HostRecv"; }
bool ends_at_master(const proto::NodeDef& node) { return says(node, "client_terminated") && !says(node, kPartialAttr); }

PartGraph::PartGraph(const proto::GraphDef& given) { Rewriter(given, *this).run(); }

}  // namespace weir::distributed
