#include "distributed/service.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "distributed/extend_graph.h"
#include "distributed/status.h"
#include "distributed/wire.h"
#include "graph/graph_def.h"
#include "proto/master.pb.h"
#include "proto/worker.pb.h"
#include "tests/support/local_cluster.h"
#include "weir/weir.h"

namespace weir::distributed {
namespace {

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
  LocalCluster cluster;
  Counter counter;
  LocalClient client(cluster, counter.graph);
  client.run({}, {"init"});
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(client.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 2.f * static_cast<float>(i));
  }
}

TEST(Service, RunsABranchInOneTaskWhateverItsNodesSay) {
  LocalCluster cluster;
  Graph graph;
  auto worker = graph.device("/job:worker/task:0");
  const Output x = graph.placeholder(float32, Shape{}, "x");
  const Output p = graph.placeholder(boolean, Shape{}, "p");
  const Output y = cond(
      p,
      [&] {
        auto device = graph.device("/job:ps/task:0");
        return x * 2.f;
      },
      [&] {
        auto device = graph.device("/job:worker/task:1/cpu:0");
        return x * 3.f;
      });
  LocalClient client(cluster, graph);
  EXPECT_EQ(client.run({y.name()}, {}, {{"x:0", Tensor(5.f)}, {"p:0", Tensor(true)}}).at(0).scalar<float>(), 10.f);
  EXPECT_EQ(client.run({y.name()}, {}, {{"x:0", Tensor(5.f)}, {"p:0", Tensor(false)}}).at(0).scalar<float>(), 15.f);
}

// Its values come in pieces: two tasks work on them.
struct InPieces {
  Graph graph;
  InPieces() {
    Variable v;
    {
      auto device = graph.device("/job:ps/task:0");
      v = graph.variable("v", 10.f);
    }
    graph.global_variables_initializer();
    const Output x = graph.placeholder(float32, Shape{}, "x"), y = graph.placeholder(float32, Shape{}, "y");
    Output first, second;
    {
      auto device = graph.device("/job:ps/task:0");
      first = assign_add(v, x);
    }
    {
      auto device = graph.device("/job:worker/task:1");
      second = first * y;
    }
    graph.add({.op = "Identity", .name = "first", .exact_name = true, .inputs = {first}});
    graph.add({.op = "Identity", .name = "second", .exact_name = true, .inputs = {second}});
  }
};

TEST(Service, RunsAStepOfSeveralTasksInPieces) {
  LocalCluster cluster;
  InPieces steps;
  LocalClient client(cluster, steps.graph);
  client.run({}, {"init"});
  for (int i = 1; i <= 3; ++i) {
    const std::string handle = client.set_up({"x:0", "y:0"}, {"first:0", "second:0"});
    EXPECT_EQ(client.go_on(handle, {"first:0"}, {{"x:0", Tensor(1.f)}}).at(0).scalar<float>(),
              10.f + static_cast<float>(i));
    EXPECT_EQ(client.go_on(handle, {"second:0"}, {{"y:0", Tensor(2.f)}}).at(0).scalar<float>(),
              20.f + 2.f * static_cast<float>(i));
    try {
      client.go_on(handle, {"first:0"}, {});
      FAIL() << "it is over";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
    }
  }
  EXPECT_EQ(cluster.service("ps", 0).worker().counts().running, 0);
}

TEST(Service, EndsAStepInPiecesWithItsErrorItsSessionOrItsTask) {
  LocalCluster cluster;
  InPieces steps;
  auto running = [&] {
    return cluster.service("ps", 0).worker().counts().running + cluster.service("worker", 1).worker().counts().running;
  };
  auto wait_until_running = [&](bool wanted) {
    const Deadline end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while ((running() > 0) != wanted && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  {
    LocalClient client(cluster, steps.graph);
    // The variable has no value yet.
    const std::string handle = client.set_up({"x:0", "y:0"}, {"first:0", "second:0"});
    try {
      client.go_on(handle, {"first:0"}, {{"x:0", Tensor(1.f)}});
      FAIL() << "the variable has no value";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::FailedPrecondition) << e.what();
    }
    client.run({}, {"init"});
    const std::string left = client.set_up({"x:0", "y:0"}, {"first:0", "second:0"});
    client.go_on(left, {"first:0"}, {{"x:0", Tensor(1.f)}});
    wait_until_running(true);  // the other task may begin after the first piece has ended
    EXPECT_GT(running(), 0);
  }
  wait_until_running(false);
  EXPECT_EQ(running(), 0) << "the session has been closed";
  LocalClient client(cluster, steps.graph);
  const std::string handle = client.set_up({"x:0", "y:0"}, {"first:0", "second:0"});
  client.go_on(handle, {"first:0"}, {{"x:0", Tensor(1.f)}});
  cluster.kill("ps", 0);
  try {
    client.go_on(handle, {"second:0"}, {{"y:0", Tensor(1.f)}});
    FAIL() << "the parameter server is gone";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unavailable) << e.what();
  }
  cluster.start("ps", 0);
}

TEST(Service, KilledTasksEndStepsAndComeBackForNewSessions) {
  LocalCluster cluster;
  Counter counter;
  {
    LocalClient client(cluster, counter.graph);
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
  LocalClient again(cluster, counter.graph);
  again.run({}, {"init"});
  EXPECT_EQ(again.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 2.f);
}

// Masters number the parts that a task keeps for them by what the task says; a new life of it says other numbers.
TEST(Service, RunsNobodyElsesPartForASessionOfATaskThatWasStartedAnew) {
  LocalCluster cluster;
  Counter counter;
  LocalClient old(cluster, counter.graph);
  old.run({}, {"init"});
  cluster.kill("ps", 0);
  cluster.start("ps", 0);
  LocalClient fresh(cluster, counter.graph, 0, "worker1");
  fresh.run({}, {"init"});
  fresh.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}});
  try {
    old.run({}, {"init"});
    ADD_FAILURE() << "the parameter server does not know that session";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Aborted) << e.what();
  }
  EXPECT_EQ(fresh.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 4.f);
}

TEST(Worker, RefusesAPartOfAnotherSession) {
  LocalCluster cluster;
  Worker& worker = cluster.service("ps", 0).worker();
  worker.create_session("one", false, {});
  worker.create_session("two", false, {});
  const std::string part = worker.register_graph("one", {}, false);
  worker.run({.session = "one", .graph = part, .step = 1});
  worker.run({.graph = part, .step = 2});  // masters older than 1.4 do not say whose it is
  EXPECT_THROW(worker.run({.session = "two", .graph = part, .step = 3}), Error);
  EXPECT_THROW(worker.deregister_graph("two", part), Error);
  worker.deregister_graph("one", part);
  EXPECT_THROW(worker.run({.graph = part, .step = 4}), Error);
}

TEST(Service, LetsGoOfWhatAMasterLeftWhenItComesBack) {
  LocalCluster cluster;
  Counter counter;
  auto client = std::make_unique<LocalClient>(cluster, counter.graph);
  client->run({}, {"init"});
  client->run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}});
  Worker& server = cluster.service("ps", 0).worker();
  EXPECT_EQ(server.counts().sessions, 1u);
  EXPECT_GT(server.counts().graphs, 0u);
  cluster.kill("worker", 0);
  cluster.start("worker", 0);
  LocalClient again(cluster, counter.graph);
  EXPECT_EQ(server.counts().sessions, 1u) << "the session of the killed master is kept";
  EXPECT_EQ(server.counts().graphs, 0u) << "its parts are kept";
  EXPECT_EQ(again.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(),
            4.f);  // its variables are everybody's
}

TEST(Service, LetsGoOfPartsThatNobodyRunsAnyMore) {
  LocalCluster cluster;
  Counter counter;
  LocalClient client(cluster, counter.graph);
  client.run({}, {"init"});
  Worker& server = cluster.service("ps", 0).worker();
  const size_t parts = server.counts().graphs;
  proto::MakeCallableRequest make;
  make.set_session_handle(client.handle());
  make.mutable_options()->add_feed("x:0");
  make.mutable_options()->add_fetch("out/sum:0");
  make.mutable_options()->add_target("no such node");
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(cluster.ask("worker0", kMasterService + "MakeCallable", encode(make)).code, Code::Ok);
  EXPECT_EQ(server.counts().graphs, parts);
}

TEST(Service, RunsARequestThatComesTwiceOnce) {
  LocalCluster cluster;
  Counter counter;
  LocalClient client(cluster, counter.graph);
  client.run({}, {"init"});
  proto::RunStepRequest request;
  request.set_session_handle(client.handle());
  request.set_request_id(int64_t{1} << 50);
  request.add_fetch("out/sum:0");
  Message message = encode(request);
  add_named_tensor(message, 2, "x:0", Tensor(1.f));
  EXPECT_EQ(cluster.ask("worker0", kMasterService + "RunStep", message).code, Code::Ok);
  EXPECT_EQ(cluster.ask("worker0", kMasterService + "RunStep", message).code, Code::Aborted);
  EXPECT_EQ(client.run({"out/sum:0"}, {}, {{"x:0", Tensor(1.f)}}).at(0).scalar<float>(), 2.f);
}

TEST(StepTable, ForgetsWhatAClosedSessionHasLeft) {
  StepTable table("/job:ps/replica:0/task:0", 7, nullptr);
  const std::string key =
      rendezvous_key("/job:ps/replica:0/task:0/device:CPU:0", 7, "/job:worker/replica:0/task:0/device:CPU:0", "x");
  int session = 0, other = 0;
  table.enter(1, &session);
  table.send(1, key, Tensor(1.f));
  table.leave(1);
  table.enter(2, &other);
  table.send(2, key, Tensor(2.f));
  table.leave(2);
  EXPECT_EQ(table.counts().values, 2u);
  table.forget_session(&session);
  EXPECT_EQ(table.counts().values, 1u);
  EXPECT_THROW(table.enter(1, &session), Error);  // a part that comes late
  table.enter(3, &other);
  table.leave(3);
  EXPECT_EQ(table.counts().steps, 1u) << "a step that leaves nothing is kept";
}

TEST(Service, RefusesWhatIsNoMessage) {
  LocalCluster cluster;
  Counter counter;
  LocalClient client(cluster, counter.graph);
  client.run({}, {"init"});
  const std::vector<std::string> methods = {"CreateSession", "ExtendSession",  "PartialRunSetup", "RunStep",
                                            "CloseSession",  "ListDevices",    "Reset",           "MakeCallable",
                                            "RunCallable",   "ReleaseCallable"};
  const std::vector<std::string> worker_methods = {
      "GetStatus",    "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph", "RunGraph",
      "CleanupGraph", "CleanupAll",          "RecvTensor",          "Logging",       "Tracing",         "NoSuchMethod"};
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    for (const std::string& method : methods) {
      if (method == "Reset" || method == "CloseSession" || method == "ListDevices") continue;  // an empty one is right
      cluster.ask("worker0", kMasterService + method, Message(bytes), std::chrono::milliseconds(500));
    }
    for (const std::string& method : worker_methods) {
      cluster.ask("worker0", kWorkerService + method, Message(bytes), std::chrono::milliseconds(100));
    }
  }
  // The server still serves.
  EXPECT_EQ(client.run({"out/sum:0"}, {}, {{"x:0", Tensor(2.f)}}).at(0).scalar<float>(), 2.f);
}

TEST(Service, RefusesSessionsGraphsAndStepsThatAreNotThere) {
  LocalCluster cluster;
  auto code = [&](const std::string& method, const google::protobuf::MessageLite& request) {
    return cluster.ask("worker0", method, encode(request)).code;
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
  value.set_rendezvous_key(
      rendezvous_key("/job:worker/replica:0/task:0/device:CPU:0", 12345, "/job:ps/replica:0/task:0/device:CPU:0", "x"));
  EXPECT_EQ(code(kWorkerService + "RecvTensor", value), Code::Aborted);  // of an earlier life
  EXPECT_EQ(code("/tensorflow.WorkerService/Nothing", value), Code::Unimplemented);
  proto::ExtendSessionRequest extend;
  Graph graph;
  graph.constant(1.f, float32, "c");
  LocalClient client(cluster, graph);
  extend.set_session_handle(client.handle());
  extend.set_current_graph_version(99);
  EXPECT_EQ(code(kMasterService + "ExtendSession", extend), Code::Aborted);
}

TEST(Service, LimitsGraphsAndForbidsFilesToUntrustedClients) {
  LocalCluster cluster({.limits = {.max_graph_nodes = 3, .untrusted_clients = true}});
  Graph small;
  small.constant(1.f, float32, "c");
  EXPECT_NO_THROW(LocalClient(cluster, small));
  Graph reads;
  reads.add({.op = "ReadFile", .name = "r", .inputs = {reads.constant("/etc/passwd", string, "name")}});
  try {
    LocalClient client(cluster, reads);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::PermissionDenied) << e.what();
  }
  Graph large;
  for (int i = 0; i < 5; ++i) large.constant(1.f, float32);
  try {
    LocalClient client(cluster, large);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::ResourceExhausted) << e.what();
  }
}

TEST(Service, EndsAStepAtItsDeadline) {
  LocalCluster cluster;
  Graph graph;
  {
    auto device = graph.device("/job:ps/task:0");
    const Output queue =
        graph.add({.op = "FIFOQueueV2", .name = "q", .attrs = {{"component_types", std::vector<DType>{float32}}}})
            .output();
    graph.add({.op = "QueueDequeueV2",
               .name = "take",
               .inputs = {queue},
               .attrs = {{"component_types", std::vector<DType>{float32}}}});
  }
  const LocalClient client(cluster, graph);
  proto::RunStepRequest request;
  request.set_session_handle(client.handle());
  request.add_fetch("take:0");
  request.mutable_options()->set_timeout_in_ms(200);  // of the step alone: a busy machine makes sessions slowly
  const Reply reply = cluster.ask("worker0", kMasterService + "RunStep", encode(request));
  proto::RunStepResponse response;
  if (reply.code == Code::Ok) decode(reply.body, response);
  EXPECT_EQ(reply.code == Code::Ok ? static_cast<Code>(response.status_code()) : reply.code, Code::DeadlineExceeded)
      << reply.error;
}

TEST(JoinGraphs, TakesAFunctionThatComesAgainAndRefusesAnotherOfItsName) {
  auto library = [](const std::string& argument, const std::string& gradient) {
    proto::GraphDef graph;
    auto& function = *graph.mutable_library()->add_function();
    function.mutable_signature()->set_name("f");
    function.mutable_signature()->add_input_arg()->set_name(argument);
    auto& pair = *graph.mutable_library()->add_gradient();
    pair.set_function_name("f");
    pair.set_gradient_func(gradient);
    return graph;
  };
  const proto::GraphDef joined = join_graphs(library("x", "g"), library("x", "g"));
  EXPECT_EQ(joined.library().function_size(), 1);
  EXPECT_EQ(joined.library().gradient_size(), 1);
  EXPECT_THROW(join_graphs(library("x", "g"), library("y", "g")), Error);
  EXPECT_THROW(join_graphs(library("x", "g"), library("x", "h")), Error);
  proto::GraphDef both = library("x", "g");
  both.MergeFrom(library("y", "g"));
  EXPECT_THROW(join_graphs({}, both), Error) << "two in one message";
}

// A task that is stopped, or cut off, while it is given its part.
TEST(Service, EndsAStepAtItsDeadlineWhileATaskTakesInItsPart) {
  const auto network = make_loopback();
  std::mutex mutex;
  std::vector<std::shared_ptr<Incoming>> kept;  // calls that are never answered
  const auto silent = network->listen({.address = "ps0"}, [&](const std::shared_ptr<Incoming>& call) {
    if (call->method() == kWorkerService + "GetStatus") {
      proto::GetStatusResponse response;
      auto& device = *response.add_device_attributes();
      device.set_name("/job:ps/replica:0/task:0/device:CPU:0");
      device.set_device_type("CPU");
      device.set_incarnation(1);
      call->answer(encode(response));
    } else if (call->method() == kWorkerService + "RegisterGraph") {
      std::lock_guard lock(mutex);
      kept.push_back(call);
    } else {
      call->answer({});
    }
  });
  const Jobs jobs{{"ps", {{0, "ps0"}}}, {"worker", {{0, "worker0"}}}};
  const std::string name = task_name("worker", 0);
  ServiceOptions options;
  options.master = {.jobs = jobs, .job = "worker", .task = 0};
  options.worker.task = options.worker.session.task = name;
  Service service(options, std::make_shared<Peers>(jobs, name, network, ConnectOptions()));
  const auto listener =
      network->listen({.address = "worker0"}, [&](const std::shared_ptr<Incoming>& call) { service.handle(call); });
  auto ask = [&](const char* method, const Message& request) {
    return network->connect("worker0", {})
        ->call(kMasterService + method, request,
               {.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
  };
  Counter counter;
  proto::CreateSessionRequest create;
  graph_to_proto(counter.graph, *create.mutable_graph_def());
  const Reply made = ask("CreateSession", encode(create));
  ASSERT_EQ(made.code, Code::Ok) << made.error;
  proto::CreateSessionResponse session;
  decode(made.body, session);
  proto::RunStepRequest step;
  step.set_session_handle(session.session_handle());
  step.add_target("init");
  step.mutable_options()->set_timeout_in_ms(50);
  const Reply late = ask("RunStep", encode(step));
  EXPECT_EQ(late.code, Code::DeadlineExceeded) << late.error;
  EXPECT_NE(late.error.find("given its part of a graph"), std::string::npos) << late.error;
  service.stop();
  listener->close();
  silent->close();
}

TEST(Wire, TensorsOfEveryKindComeBackAsTheyWent) {
  const std::vector<Tensor> tensors = {Tensor(1.f),
                                       Tensor(std::vector<float>(5000, 2.f)),
                                       Tensor(std::vector<std::string>{"a", "", "b"}),
                                       Tensor::zeros(int64, Shape{0, 3}),
                                       Tensor(true),
                                       Tensor("text")};
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
      EXPECT_THROW(
          decode_with_tensors(Message(bytes.substr(0, size)), 2, true, rest, [](const std::string&, const Tensor&) {}),
          Error);
    }
  }
}

}  // namespace
}  // namespace weir::distributed
