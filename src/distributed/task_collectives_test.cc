#include "distributed/task_collectives.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/errors.h"
#include "tests/support/local_cluster.h"
#include "tests/support/loopback.h"
#include "weir/weir.h"

namespace weir::distributed {
namespace {

struct Options {
  std::string op = "CollectiveReduce";
  int64_t group_size = 3, instance_key = 1;
  std::string merge_op = "Add", final_op = "Id";
};

// One member of a group at a worker; `input` is empty for who receives a broadcast.
Output member(Graph& graph, int worker, const Output& input, const Options& options, const Shape& shape = Shape{}) {
  auto device = graph.device(fmt::format("/job:worker/task:{}", worker));
  const std::string name = fmt::format("member{}", worker);
  NodeBuilder node(options.op, name);
  node.graph(graph);
  if (input) {
    node.input(input);
  } else {
    node.attr("T", DType::Float32);
  }
  node.attr("group_size", options.group_size).attr("group_key", 7).attr("instance_key", options.instance_key);
  if (options.op == "CollectiveReduce") {
    node.attr("merge_op", options.merge_op).attr("final_op", options.final_op);
    node.attr("subdiv_offsets", std::vector<int64_t>{});
  } else {
    node.attr("shape", shape);
  }
  return node.output();
}

// A vector that the worker makes: its number, and numbers from there on.
Output numbers(Graph& graph, int worker, int64_t count) {
  auto device = graph.device(fmt::format("/job:worker/task:{}", worker));
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(worker * 10 + i));
  return identity(graph.constant(Tensor(values)), fmt::format("numbers{}", worker));
}

std::vector<float> values(const Tensor& tensor) { return {tensor.data<float>().begin(), tensor.data<float>().end()}; }

TEST(TaskCollectives, ReduceValuesOfThreeTasksOfEverySize) {
  LocalCluster cluster({.workers = 3});
  for (const int64_t count : {1, 2, 3, 7, 1000}) {
    for (const char* final_op : {"Id", "Div"}) {
      Graph graph;
      std::vector<std::string> fetches;
      for (int w = 0; w < 3; ++w)
        fetches.push_back(member(graph, w, numbers(graph, w, count), {.final_op = final_op}).name());
      LocalClient client(cluster, graph);
      for (int step = 0; step < 3; ++step) {
        for (const Tensor& sum : client.run(fetches)) {
          ASSERT_EQ(sum.elements(), count);
          for (int64_t i = 0; i < count; ++i) {
            const float expected = static_cast<float>(30 + 3 * i) / (*final_op == 'D' ? 3.f : 1.f);
            ASSERT_EQ(sum.data<float>()[static_cast<size_t>(i)], expected);
          }
        }
      }
    }
  }
}

TEST(TaskCollectives, GatherInTheOrderOfTasksAndBroadcastFromAny) {
  LocalCluster cluster({.workers = 3});
  Graph graph;
  std::vector<std::string> gathered, sent;
  for (int w = 2; w >= 0; --w) {
    gathered.push_back(
        member(graph, w, numbers(graph, w, 2), {.op = "CollectiveGather", .instance_key = 2}, Shape{6}).name());
  }
  for (int w = 0; w < 3; ++w) {
    const Output input = w == 1 ? numbers(graph, w, 2) : Output();
    sent.push_back(member(graph, w, input,
                          {.op = input ? "CollectiveBcastSend" : "CollectiveBcastRecv", .instance_key = 3}, Shape{2})
                       .name());
  }
  LocalClient client(cluster, graph);
  for (const Tensor& all : client.run(gathered)) EXPECT_EQ(values(all), (std::vector<float>{0, 1, 10, 11, 20, 21}));
  for (const Tensor& value : client.run(sent)) EXPECT_EQ(values(value), (std::vector<float>{10, 11}));
}

// Each worker with a session and a graph of its own, as programs of TensorFlow have it.
struct Replica {
  Graph graph;
  std::string fetch;
  Replica(int worker, int64_t count, const Options& options)
      : fetch(member(graph, worker, numbers(graph, worker, count), options).name()) {}
};

TEST(TaskCollectives, MeetInSessionsOfDifferentMasters) {
  LocalCluster cluster({.workers = 2});
  std::vector<std::jthread> threads;
  std::vector<std::vector<float>> got(2);
  for (int w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      Replica replica(w, 2, {.group_size = 2});
      LocalClient client(cluster, replica.graph, 0, fmt::format("worker{}", w));
      for (int step = 0; step < 20; ++step) got[static_cast<size_t>(w)] = values(client.run({replica.fetch}).at(0));
    });
  }
  threads.clear();
  EXPECT_EQ(got[0], (std::vector<float>{10, 12}));
  EXPECT_EQ(got[1], got[0]);
}

TEST(TaskCollectives, MembersThatContradictEachOtherAreToldSo) {
  LocalCluster cluster({.workers = 2});
  std::vector<std::jthread> threads;
  std::vector<std::string> errors(2);
  for (int w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      Replica replica(w, 2 + w, {.group_size = 2});
      LocalClient client(cluster, replica.graph, 0, fmt::format("worker{}", w));
      try {
        client.run({replica.fetch});
      } catch (const Error& e) {
        errors[static_cast<size_t>(w)] = e.message();
      }
    });
  }
  threads.clear();
  for (const std::string& error : errors)
    EXPECT_NE(error.find("Shape mismatch in the collective instance 1"), std::string::npos) << error;
}

// Who was brought together with a member that had just given up is told so, and may try again.
Tensor run_until_all_are_there(LocalClient& client, const std::string& fetch) {
  while (true) {
    try {
      return client.run({fetch}).at(0);
    } catch (const Error& e) {
      if (e.code() != Code::Aborted) throw;
    }
  }
}

TEST(TaskCollectives, AMemberThatGivesUpMayComeAgain) {
  LocalCluster cluster({.workers = 2});
  Replica first(0, 2, {.group_size = 2}), second(1, 2, {.group_size = 2});
  {
    LocalClient client(cluster, second.graph, 100, "worker1");
    EXPECT_THROW(client.run({second.fetch}), Error);
  }
  std::vector<float> got;
  std::jthread other([&] {
    LocalClient client(cluster, second.graph, 0, "worker1");
    client.run({second.fetch});
  });
  LocalClient client(cluster, first.graph);
  EXPECT_EQ(values(run_until_all_are_there(client, first.fetch)), (std::vector<float>{10, 12}));
}

// What the call holds already is freed once: a server that frees it again ends.
TEST(TaskCollectives, RefuseCallsWhoseAttributesAreMissing) {
  const std::string task = "/job:worker/replica:0/task:0";
  Peers peers(Jobs{{"worker", {{0, "worker0"}}}}, task, make_loopback(), {});
  StepTable steps(task, 1, [](auto&&...) {});
  TaskCollectives collectives(task, 1, peers, steps);
  proto::NodeDef call;
  call.set_op("CollectiveReduce");
  call.set_device(task + "/device:CPU:0 and more than fits into a string's own memory");
  const char* const attributes[] = {"group_size", "group_key", "instance_key", "T",          "shape",
                                    "merge_op",   "final_op",  "id",           "incarnation"};
  for (const char* name : attributes) {
    try {
      collectives.join(call, {}, [](const proto::NodeDef&, std::exception_ptr) { FAIL(); });
      FAIL() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument);
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
    (*call.mutable_attr())[name].set_i(1);
    if (std::string_view(name) == "shape") (*call.mutable_attr())[name].mutable_shape()->add_dim()->set_size(2);
  }
}

TEST(TaskCollectives, AKilledMemberEndsTheOthers) {
  LocalCluster cluster({.workers = 2});
  Replica first(0, 2, {.group_size = 2}), second(1, 2, {.group_size = 2});
  LocalClient client(cluster, first.graph, 2000);
  std::jthread other([&] {
    try {
      LocalClient(cluster, second.graph, 0, "worker1").run({second.fetch});
    } catch (const Error&) {
    }
  });
  client.run({first.fetch});
  other.join();
  cluster.kill("worker", 1);
  EXPECT_THROW(client.run({first.fetch}), Error);  // at its deadline: nobody can tell that the other will not come
  cluster.start("worker", 1);
  std::jthread again([&] { LocalClient(cluster, second.graph, 0, "worker1").run({second.fetch}); });
  LocalClient fresh(cluster, first.graph);
  EXPECT_EQ(values(run_until_all_are_there(fresh, first.fetch)), (std::vector<float>{10, 12}));
}

}  // namespace
}  // namespace weir::distributed
