// Parts of graphs as TensorFlow's masters cut them: conditionals and loops go on in other tasks.
#include "distributed/part.h"

#include <gtest/gtest.h>

#include <future>

#include "base/errors.h"
#include "distributed/cluster.h"
#include "tests/support/local_cluster.h"

namespace weir::distributed {
namespace {

// The part of one task.
class Pieces {
 public:
  Pieces(Worker& w, std::string t) : worker(w), task(std::move(t)) {}

  proto::NodeDef& add(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                      proto::DataType type = proto::DT_FLOAT) {
    proto::NodeDef& node = *graph.add_node();
    node.set_name(name);
    node.set_op(op);
    for (const std::string& input : inputs) node.add_input(input);
    if (op != "LoopCond") (*node.mutable_attr())[op == "_Recv" ? "tensor_type" : "T"].set_type(type);
    return node;
  }
  void merge(const std::string& name, const std::string& a, const std::string& b,
             proto::DataType type = proto::DT_FLOAT) {
    (*add(name, "Merge", {a, b}, type).mutable_attr())["N"].set_i(2);
  }
  void enter(const std::string& name, const std::string& value, proto::DataType type, bool constant = false) {
    proto::NodeDef& node = add(name, "Enter", {value}, type);
    (*node.mutable_attr())["frame_name"].set_s("loop");
    (*node.mutable_attr())["is_constant"].set_b(constant);
  }
  void constant(const std::string& name, int32_t value, const std::vector<std::string>& after = {}) {
    proto::NodeDef& node = *graph.add_node();
    node.set_name(name);
    node.set_op("Const");
    for (const std::string& input : after) node.add_input(input);
    (*node.mutable_attr())["dtype"].set_type(proto::DT_INT32);
    proto::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_INT32);
    tensor.mutable_tensor_shape();
    tensor.add_int_val(value);
  }
  // What the master brings, or takes.
  void feed(const std::string& name, proto::DataType type) {
    describe(add(name, "_Recv", {}, type), name, *this, *this, true);
    feeds.push_back(name);
  }
  void fetch(const std::string& name, const std::string& source, proto::DataType type) {
    describe(add("fetch_" + name, "_Send", {source}, type), name, *this, *this, true);
    fetches.push_back(name);
  }
  static void describe(proto::NodeDef& node, const std::string& name, const Pieces& from, const Pieces& to,
                       bool at_master) {
    auto& attrs = *node.mutable_attr();
    attrs["tensor_name"].set_s(name);
    attrs["send_device"].set_s(host_device(from.task));
    attrs["send_device_incarnation"].set_i(static_cast<int64_t>(from.worker.incarnation()));
    attrs["recv_device"].set_s(host_device(to.task));
    attrs["client_terminated"].set_b(at_master);
  }

  void enlist() { handle = worker.register_graph("", graph, false); }
  std::vector<Tensor> run(int64_t step, const std::vector<Tensor>& values) {
    auto key = [&](const std::string& name) {
      return rendezvous_key(host_device(task), worker.incarnation(), host_device(task), name);
    };
    Worker::Run run{.graph = handle, .step = step, .timeout = std::chrono::seconds(30)};
    for (size_t i = 0; i < feeds.size(); ++i) run.sends.emplace_back(key(feeds[i]), values[i]);
    for (const std::string& name : fetches) run.receives.push_back(key(name));
    return worker.run(run);
  }

  Worker& worker;
  const std::string task;
  proto::GraphDef graph;
  std::string handle;
  std::vector<std::string> feeds, fetches;
};

class CutPart : public testing::Test {
 protected:
  // `name` in the part `to` is `source` of the part `from`; the value is received when `after` has run.
  static void cross(Pieces& from, Pieces& to, const std::string& name, const std::string& source,
                    proto::DataType type = proto::DT_FLOAT, const std::vector<std::string>& after = {}) {
    Pieces::describe(from.add("send_" + name, "_Send", {source}, type), "edge_" + name, from, to, false);
    Pieces::describe(to.add(name, "_Recv", after, type), "edge_" + name, from, to, false);
  }
  // A step of both; what the second fetches.
  std::vector<Tensor> run(const std::vector<Tensor>& feeds) {
    if (ps.handle.empty()) ps.enlist();
    if (worker.handle.empty()) worker.enlist();
    const int64_t step = ++steps_;
    auto theirs = std::async(std::launch::async, [&] { ps.run(step, {}); });
    std::vector<Tensor> results = worker.run(step, feeds);
    theirs.get();
    EXPECT_EQ(ps.worker.steps().counts().values + worker.worker.steps().counts().values, 0u) << "something is left";
    return results;
  }

  LocalCluster cluster_{{.workers = 1}};
  Pieces ps{cluster_.service("ps", 0).worker(), task_name("ps", 0)};
  Pieces worker{cluster_.service("worker", 0).worker(), task_name("worker", 0)};

 private:
  int64_t steps_ = 0;
};

TEST_F(CutPart, ABranchIsComputedElsewhereAndJoinedHere) {
  worker.feed("p", proto::DT_BOOL);
  worker.feed("x", proto::DT_FLOAT);
  worker.add("split", "Switch", {"x", "p"});
  worker.add("negative", "Neg", {"split"});
  cross(worker, ps, "side", "split:1");
  ps.add("square", "Square", {"side"});
  cross(ps, worker, "squared", "square");
  worker.merge("merged", "negative", "squared");
  worker.fetch("y", "merged", proto::DT_FLOAT);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run({Tensor(true), Tensor(3.f)}).at(0).scalar<float>(), 9);
    EXPECT_EQ(run({Tensor(false), Tensor(3.f)}).at(0).scalar<float>(), -3);
  }
}

TEST_F(CutPart, BothSidesOfASwitchAreReceivedOneOfThemDead) {
  worker.feed("p", proto::DT_BOOL);
  worker.feed("x", proto::DT_FLOAT);
  cross(worker, ps, "pp", "p", proto::DT_BOOL);
  cross(worker, ps, "xx", "x");
  ps.add("split", "Switch", {"xx", "pp"});
  cross(ps, worker, "no", "split");
  cross(ps, worker, "yes", "split:1");
  worker.add("negative", "Neg", {"no"});
  worker.add("square", "Square", {"yes"});
  worker.merge("merged", "negative", "square");
  worker.fetch("y", "merged", proto::DT_FLOAT);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run({Tensor(true), Tensor(3.f)}).at(0).scalar<float>(), 9);
    EXPECT_EQ(run({Tensor(false), Tensor(3.f)}).at(0).scalar<float>(), -3);
  }
}

TEST_F(CutPart, AFetchThatIsDeadIsAnError) {
  worker.feed("p", proto::DT_BOOL);
  worker.feed("x", proto::DT_FLOAT);
  cross(worker, ps, "pp", "p", proto::DT_BOOL);
  cross(worker, ps, "xx", "x");
  ps.add("split", "Switch", {"xx", "pp"});
  cross(ps, worker, "yes", "split:1");
  worker.add("square", "Square", {"yes"});
  worker.fetch("y", "square", proto::DT_FLOAT);
  EXPECT_EQ(run({Tensor(true), Tensor(3.f)}).at(0).scalar<float>(), 9);
  EXPECT_THROW(run({Tensor(false), Tensor(3.f)}), Error);
}

// The other task has a loop without values beside it, which tells its nodes of the iterations, as TensorFlow's masters
// make it.
TEST_F(CutPart, TheBodyOfALoopIsElsewhere) {
  constexpr auto kInt = proto::DT_INT32;
  worker.feed("limit", kInt);
  worker.constant("zero", 0);
  worker.enter("begin", "zero", kInt);
  worker.enter("end", "limit", kInt, true);
  worker.merge("i", "begin", "next", kInt);
  worker.add("less", "Less", {"i", "end"}, kInt);
  worker.add("goes_on", "LoopCond", {"less"});
  worker.add("split", "Switch", {"i", "goes_on"}, kInt);
  worker.add("inside", "Identity", {"split:1"}, kInt);
  worker.add("next", "NextIteration", {"more"}, kInt);
  worker.add("left", "Exit", {"split"}, kInt);
  worker.fetch("last", "left", kInt);
  ps.constant("nothing", 0);
  ps.enter("ps_begin", "nothing", kInt);
  ps.merge("ps_i", "ps_begin", "ps_next", kInt);
  cross(worker, ps, "ps_goes_on", "goes_on", proto::DT_BOOL, {"^ps_i"});
  ps.add("ps_split", "Switch", {"ps_i", "ps_goes_on"}, kInt);
  ps.add("ps_inside", "Identity", {"ps_split:1"}, kInt);
  ps.add("ps_next", "NextIteration", {"ps_inside"}, kInt);
  cross(worker, ps, "value", "inside", kInt, {"^ps_inside"});
  ps.constant("two", 2, {"^ps_inside"});
  ps.add("sum", "AddV2", {"value", "two"}, kInt);
  cross(ps, worker, "more", "sum", kInt, {"^inside"});
  for (const int limit : {7, 0, 100}) EXPECT_EQ(run({Tensor(limit)}).at(0).scalar<int32_t>(), limit + limit % 2);
}

// A node that waits must not keep values back that others need to end its wait.
TEST_F(CutPart, AWaitLeavesTheRestOfThePartGoingOn) {
  proto::NodeDef& queue = *ps.graph.add_node();
  queue.set_name("queue");
  queue.set_op("FIFOQueueV2");
  (*queue.mutable_attr())["component_types"].mutable_list()->add_type(proto::DT_FLOAT);
  (*queue.mutable_attr())["shapes"].mutable_list()->add_shape();
  proto::NodeDef& take = *ps.graph.add_node();
  take.set_name("take");
  take.set_op("QueueDequeueV2");
  take.add_input("queue");
  (*take.mutable_attr())["component_types"].mutable_list()->add_type(proto::DT_FLOAT);
  ps.constant("five", 5);
  cross(ps, worker, "theirs", "five", proto::DT_INT32);
  worker.feed("x", proto::DT_FLOAT);
  proto::NodeDef& cast = *worker.graph.add_node();
  cast.set_name("real");
  cast.set_op("Cast");
  cast.add_input("theirs");
  (*cast.mutable_attr())["SrcT"].set_type(proto::DT_INT32);
  (*cast.mutable_attr())["DstT"].set_type(proto::DT_FLOAT);
  worker.add("product", "Mul", {"x", "real"});
  cross(worker, ps, "given", "product");
  proto::NodeDef& put = *ps.graph.add_node();
  put.set_name("put");
  put.set_op("QueueEnqueueV2");
  put.add_input("queue");
  put.add_input("given");
  (*put.mutable_attr())["Tcomponents"].mutable_list()->add_type(proto::DT_FLOAT);
  cross(ps, worker, "taken", "take");
  worker.fetch("y", "taken", proto::DT_FLOAT);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(run({Tensor(static_cast<float>(i))}).at(0).scalar<float>(), 5 * static_cast<float>(i));
  }
}

TEST_F(CutPart, AnErrorElsewhereEndsTheWaitForItsValue) {
  worker.feed("x", proto::DT_FLOAT);
  cross(worker, ps, "xx", "x");
  (*ps.add("checked", "CheckNumerics", {"xx"}).mutable_attr())["message"].set_s("no number");
  cross(ps, worker, "back", "checked");
  worker.fetch("y", "back", proto::DT_FLOAT);
  EXPECT_EQ(run({Tensor(3.f)}).at(0).scalar<float>(), 3);
  ps.enlist();
  std::string theirs;
  auto failing = std::async(std::launch::async, [&] {
    try {
      ps.run(1000, {});
    } catch (const Error& e) {
      theirs = e.what();
    }
  });
  EXPECT_THROW(worker.run(1000, {Tensor(std::numeric_limits<float>::quiet_NaN())}), Error);
  failing.get();
  EXPECT_NE(theirs.find("no number"), std::string::npos) << theirs;
}

}  // namespace
}  // namespace weir::distributed
