#include "distributed/service.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "distributed/status.h"
#include "distributed/wire.h"
#include "graph/graph_def.h"
#include "proto/master.pb.h"
#include "proto/worker.pb.h"
#include "tests/support/loopback.h"
#include "weir/weir.h"

namespace weir::distributed {
namespace {

// Tasks of one cluster in this process.
class Cluster {
 public:
  explicit Cluster(const LoopbackFaults& faults = {}, const WorkerOptions& limits = {}) : transport_(make_loopback(faults)) {
    jobs_ = {{"ps", {{0, "ps0"}}}, {"worker", {{0, "worker0"}, {1, "worker1"}}}};
    for (const auto& [job, tasks] : jobs_) {
      for (const auto& [task, address] : tasks) start(job, task, limits);
    }
  }

  void start(const std::string& job, int task, const WorkerOptions& limits = {}) {
    const std::string name = task_name(job, task), address = jobs_.at(job).at(task);
    ServiceOptions options;
    options.master = {.jobs = jobs_, .job = job, .task = task};
    options.worker = limits;
    options.worker.task = options.worker.session.task = name;
    options.worker.session.intra_op_parallelism_threads = 1;
    auto service = std::make_shared<Service>(options, std::make_shared<Peers>(jobs_, name, transport_, ConnectOptions()));
    listeners_[name] = transport_->listen({.address = address},
                                          [service](const std::shared_ptr<Incoming>& call) { service->handle(call); });
    services_[name] = std::move(service);
  }
  void kill(const std::string& job, int task) {
    const std::string name = task_name(job, task);
    services_.at(name)->stop();
    listeners_.erase(name);
    services_.erase(name);
  }
  ~Cluster() {
    for (auto& [name, service] : services_) service->stop();
    for (auto& [name, listener] : listeners_) listener->close();
  }

  Reply ask(const std::string& method, const Message& request, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    return transport_->connect("worker0", {})->call(method, request,
                                                    {.deadline = std::chrono::steady_clock::now() + timeout});
  }

 private:
  const std::shared_ptr<Transport> transport_;
  Jobs jobs_;
  std::map<std::string, std::shared_ptr<Service>> services_;
  std::map<std::string, std::unique_ptr<Listener>> listeners_;
};

// A client of worker 0.
class Client {
 public:
  Client(Cluster& cluster, Graph& graph, int64_t timeout_ms = 0) : cluster_(cluster) {
    proto::CreateSessionRequest request;
    graph_to_proto(graph, *request.mutable_graph_def());
    request.mutable_config()->set_operation_timeout_in_ms(timeout_ms);
    const Reply reply = cluster.ask(kMasterService + "CreateSession", encode(request));
    if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
    proto::CreateSessionResponse response;
    decode(reply.body, response);
    handle_ = response.session_handle();
  }

  std::vector<Tensor> run(const std::vector<std::string>& fetches, const std::vector<std::string>& targets = {},
                          const std::vector<std::pair<std::string, Tensor>>& feeds = {}) {
    proto::RunStepRequest request;
    request.set_session_handle(handle_);
    for (const std::string& fetch : fetches) request.add_fetch(fetch);
    for (const std::string& target : targets) request.add_target(target);
    Message message = encode(request);
    for (const auto& [name, value] : feeds) add_named_tensor(message, 2, name, value);
    const Reply reply = cluster_.ask(kMasterService + "RunStep", message);
    if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
    proto::RunStepResponse response;
    std::vector<Tensor> values;
    decode_with_tensors(reply.body, 1, true, response, [&](const std::string&, Tensor value) { values.push_back(value); });
    return values;
  }
  const std::string& handle() const { return handle_; }

 private:
  Cluster& cluster_;
  std::string handle_;
};

// A counter on the parameter server that two workers count up.
struct Counter {
  Graph graph;
  Counter() {
    Variable v;
    {
      auto device = graph.device("/job:ps/task:0");
      v = graph.variable("v", 0.f);
    }
    Output one;
    {
      auto device = graph.device("/job:worker/task:1");
      one = graph.placeholder(float32, Shape{}, "x") * 1.f;
    }
    graph.global_variables_initializer();
    auto device = graph.device("/job:ps/task:0");
    const Output sum = assign_add(v, one);
    graph.add({.op = "Identity", .name = "out/sum", .exact_name = true, .inputs = {sum}});
  }
};

TEST(Service, RunsAStepThatThreeTasksShare) {
  Cluster cluster;
  Counter counter;
  Client client(cluster, counter.graph);
  client.run({}, {"init"});
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(client.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 2.f * static_cast<float>(i));
  }
}

TEST(Service, KilledTasksEndStepsAndComeBackForNewSessions) {
  Cluster cluster;
  Counter counter;
  {
    Client client(cluster, counter.graph);
    client.run({}, {"init"});
    cluster.kill("ps", 0);
    try {
      client.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}});
      FAIL() << "the parameter server is gone";
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::Unavailable || e.code() == Code::Aborted) << e.what();
      EXPECT_NE(std::string(e.what()).find("/job:ps/replica:0/task:0"), std::string::npos) << e.what();
    }
    cluster.start("ps", 0);
    // The old session's part is gone with the old task; TensorFlow's programs make a new session when they hear this.
    try {
      client.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}});
      FAIL() << "the parameter server has forgotten the session";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::Aborted) << e.what();
    }
  }
  Client again(cluster, counter.graph);
  again.run({}, {"init"});
  EXPECT_EQ(again.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 2.f);
}

TEST(Service, NeverAppliesAnUpdateTwiceNorHangsWhenMessagesAreLost) {
  float confirmed = 0, failures = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Cluster cluster({.seed = seed, .lose_request = 0.02, .lose_answer = 0.02, .delay = 0.2});
    Counter counter;
    float applied = 0, tried = 0;
    try {
      Client client(cluster, counter.graph, 5000);
      client.run({}, {"init"});
      for (int i = 0; i < 15; ++i) {
        ++tried;
        try {
          const float sum = client.run({"out/sum:0"}, {}, {{"x:0", Tensor(1.f)}}).at(0).scalar<float>();
          ++applied;
          ++confirmed;
          EXPECT_GE(sum, applied) << "an update that was confirmed is lost";
          EXPECT_LE(sum, tried) << "an update was applied twice";
        } catch (const Error& e) {
          ++failures;
          EXPECT_NE(e.code(), Code::Internal) << e.what();
        }
      }
    } catch (const Error&) {
      // The session could not be made: nothing to check.
    }
  }
  EXPECT_GT(confirmed, 100);
  EXPECT_GT(failures, 10);
}

TEST(Service, RefusesWhatIsNoMessage) {
  Cluster cluster;
  Counter counter;
  Client client(cluster, counter.graph);
  client.run({}, {"init"});
  const std::vector<std::string> methods = {
      "CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession", "ListDevices", "Reset", "MakeCallable",
      "RunCallable", "ReleaseCallable"};
  const std::vector<std::string> worker_methods = {
      "GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph", "RunGraph", "CleanupGraph",
      "CleanupAll", "RecvTensor", "Logging", "Tracing", "NoSuchMethod"};
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    for (const std::string& method : methods) {
      if (method == "Reset" || method == "CloseSession" || method == "ListDevices") continue;  // an empty one is right
      cluster.ask(kMasterService + method, Message(bytes), std::chrono::milliseconds(500));
    }
    for (const std::string& method : worker_methods) {
      cluster.ask(kWorkerService + method, Message(bytes), std::chrono::milliseconds(100));
    }
  }
  // The server still serves.
  EXPECT_EQ(client.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 2.f);
}

TEST(Service, RefusesSessionsGraphsAndStepsThatAreNotThere) {
  Cluster cluster;
  auto code = [&](const std::string& method, const google::protobuf::MessageLite& request) {
    return cluster.ask(method, encode(request)).code;
  };
  proto::RunStepRequest step;
  step.set_session_handle("nobody");
  EXPECT_EQ(code(kMasterService + "RunStep", step), Code::Aborted);
  proto::RunGraphRequest part;
  part.set_graph_handle("nothing");
  EXPECT_EQ(code(kWorkerService + "RunGraph", part), Code::Aborted);
  proto::RecvTensorRequest value;
  value.set_rendezvous_key("nonsense");
  EXPECT_EQ(code(kWorkerService + "RecvTensor", value), Code::InvalidArgument);
  value.set_rendezvous_key(rendezvous_key("/job:worker/replica:0/task:0/device:CPU:0", 12345, "/job:ps/replica:0/task:0/device:CPU:0", "x"));
  EXPECT_EQ(code(kWorkerService + "RecvTensor", value), Code::Aborted);  // of an earlier life
  EXPECT_EQ(code("/tensorflow.WorkerService/Nothing", value), Code::Unimplemented);
  proto::ExtendSessionRequest extend;
  Graph graph;
  graph.constant(1.f, float32, "c");
  Client client(cluster, graph);
  extend.set_session_handle(client.handle());
  extend.set_current_graph_version(99);
  EXPECT_EQ(code(kMasterService + "ExtendSession", extend), Code::Aborted);
}

TEST(Service, LimitsGraphsAndForbidsFilesToUntrustedClients) {
  Cluster cluster({}, {.max_graph_nodes = 3, .untrusted_clients = true});
  Graph small;
  small.constant(1.f, float32, "c");
  EXPECT_NO_THROW(Client(cluster, small));
  Graph reads;
  reads.add({.op = "ReadFile", .name = "r", .inputs = {reads.constant("/etc/passwd", string, "name")}});
  try {
    Client client(cluster, reads);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::PermissionDenied) << e.what();
  }
  Graph large;
  for (int i = 0; i < 5; ++i) large.constant(1.f, float32);
  try {
    Client client(cluster, large);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::ResourceExhausted) << e.what();
  }
}

TEST(Service, EndsAStepAtItsDeadline) {
  Cluster cluster;
  Graph graph;
  {
    auto device = graph.device("/job:ps/task:0");
    const Output queue = graph.add({.op = "FIFOQueueV2", .name = "q", .attrs = {{"component_types", std::vector<DType>{float32}}}}).output();
    graph.add({.op = "QueueDequeueV2", .name = "take", .inputs = {queue}, .attrs = {{"component_types", std::vector<DType>{float32}}}});
  }
  Client client(cluster, graph, 200);
  try {
    client.run({"take:0"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::DeadlineExceeded) << e.what();
  }
}

TEST(Wire, TensorsOfEveryKindComeBackAsTheyWent) {
  const std::vector<Tensor> tensors = {Tensor(1.f), Tensor(std::vector<float>(5000, 2.f)), Tensor(std::vector<std::string>{"a", "", "b"}),
                                       Tensor::zeros(int64, Shape{0, 3}), Tensor(true), Tensor("text")};
  for (const Tensor& tensor : tensors) {
    Message message;
    add_named_tensor(message, 2, "name", tensor);
    proto::RunStepRequest rest;
    int count = 0;
    decode_with_tensors(message, 2, true, rest, [&](const std::string& name, const Tensor& back) {
      ++count;
      EXPECT_EQ(name, "name");
      EXPECT_EQ(back.dtype(), tensor.dtype());
      EXPECT_EQ(back.shape(), tensor.shape());
      EXPECT_EQ(back.str(), tensor.str());
    });
    EXPECT_EQ(count, 1);
    // Cut short anywhere it is refused, not read beyond its end.
    const std::string bytes = message.flat();
    for (size_t size = 1; size < std::min<size_t>(bytes.size(), 64); ++size) {
      EXPECT_THROW(decode_with_tensors(Message(bytes.substr(0, size)), 2, true, rest, [](const std::string&, const Tensor&) {}), Error);
    }
  }
}

}  // namespace
}  // namespace weir::distributed
