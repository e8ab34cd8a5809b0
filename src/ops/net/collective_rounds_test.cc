#include "ops/net/collective_rounds.h"

#include <gtest/gtest.h>

#include "weir/weir.h"

namespace weir {
namespace {

struct Options {
  std::string op = "CollectiveReduce", merge_op = "Add", final_op = "Id";
  int64_t group_size = 3, instance_key = 1;
  Shape shape = {};  // of a broadcast
};

Output member(Graph& graph, int device, const Output& input, const Options& options) {
  auto scope = graph.device("/cpu:" + std::to_string(device));
  NodeBuilder node(options.op);
  node.graph(graph);
  if (input) {
    node.input(input);
  } else {
    node.attr("T", DType::Float32);
  }
  node.attr("group_size", options.group_size).attr("group_key", 7).attr("instance_key", options.instance_key);
  if (options.op == "CollectiveReduce") {
    node.attr("merge_op", options.merge_op).attr("final_op", options.final_op);
    node.attr("subdiv_offsets", std::vector<int64_t>{0});
  } else {
    node.attr("shape", options.shape);
  }
  return node.output();
}

std::vector<Tensor> run(Graph& graph, const std::vector<Output>& fetches, int milliseconds = 20000) {
  Session session(graph, {.device_count = {{"CPU", 12}}});
  session.run(fetches, {}, {}, {.timeout = std::chrono::milliseconds(milliseconds)});
  return session.run(fetches, {}, {}, {.timeout = std::chrono::milliseconds(milliseconds)});  // once more
}

template <class T>
std::vector<Tensor> reduce(const std::vector<std::vector<T>>& values, Options options = {}) {
  Graph graph;
  options.group_size = static_cast<int64_t>(values.size());
  std::vector<Output> fetches;
  for (size_t i = 0; i < values.size(); ++i) {
    fetches.push_back(member(graph, static_cast<int>(i), graph.constant(Tensor(values[i])), options));
  }
  return run(graph, fetches);
}

template <class T>
void expect_all(const std::vector<Tensor>& tensors, const std::vector<T>& expected) {
  for (const Tensor& tensor : tensors)
    EXPECT_EQ(std::vector<T>(tensor.data<T>().begin(), tensor.data<T>().end()), expected);
}

TEST(CollectiveReduce, MergesTheValuesOfAllDevices) {
  expect_all<float>(reduce<float>({{1, 2}, {3, 4}, {5, 7}}), {9, 13});
  expect_all<float>(reduce<float>({{1, 2}, {3, 5}}, {.final_op = "Div"}), {2, 3.5});
  expect_all<double>(reduce<double>({{1, 2}, {3, 4}}, {.merge_op = "Mul"}), {3, 8});
  expect_all<int64_t>(reduce<int64_t>({{1, 4}, {3, 2}}, {.merge_op = "Min"}), {1, 2});
  expect_all<int32_t>(reduce<int32_t>({{1, 4}, {3, 2}}, {.merge_op = "Max"}), {3, 4});
  expect_all<int32_t>(reduce<int32_t>({{1, 2}, {4, -7}}, {.final_op = "Div"}), {2, -2});
  expect_all<float>(reduce<float>({{}, {}}), {});
}

TEST(CollectiveGather, GivesTheValuesInTheOrderOfDevices) {
  Graph graph;
  std::vector<Output> fetches;
  for (int device : {10, 2, 0}) {
    const Output rows = graph.constant(Tensor::from({1.f * static_cast<float>(device), 0.f}, Shape{1, 2}));
    fetches.push_back(member(graph, device, rows, {.op = "CollectiveGather", .shape = Shape{3, 2}}));
    EXPECT_EQ(fetches.back().shape(), (Shape{3, 2}));
  }
  expect_all<float>(run(graph, fetches), {0, 0, 2, 0, 10, 0});
}

TEST(CollectiveBcast, GivesAllWhatOneSends) {
  Graph graph;
  std::vector<Output> fetches{member(graph, 0, {}, {.op = "CollectiveBcastRecv", .shape = Shape{2}}),
                              member(graph, 1, graph.constant(Tensor(std::vector<float>{1, 2})),
                                     {.op = "CollectiveBcastSend", .shape = Shape{2}}),
                              member(graph, 2, {}, {.op = "CollectiveBcastRecv", .shape = Shape{2}})};
  EXPECT_EQ(fetches[0].shape(), Shape{2});
  expect_all<float>(run(graph, fetches), {1, 2});
}

std::string failure(Graph& graph, const std::vector<Output>& fetches, int milliseconds = 20000) {
  try {
    run(graph, fetches, milliseconds);
  } catch (const Error& e) {
    return e.message();
  }
  return "none";
}

TEST(CollectiveReduce, RefusesMembersThatContradictEachOther) {
  auto against = [](const std::vector<float>& second, const Options& other) {
    Graph graph;
    return failure(graph, {member(graph, 0, graph.constant(Tensor(std::vector<float>{1, 2})), {.group_size = 2}),
                           member(graph, 1, graph.constant(Tensor(second)), other)});
  };
  EXPECT_NE(against({1, 2, 3}, {.group_size = 2}).find("Shape mismatch in the collective instance 1"),
            std::string::npos);
  EXPECT_NE(against({1, 2}, {.group_size = 3}).find("Size mismatch"), std::string::npos);
  EXPECT_NE(against({1, 2}, {.merge_op = "Mul", .group_size = 2}).find("merge_op mismatch"), std::string::npos);
  EXPECT_NE(against({1, 2}, {.op = "CollectiveGather", .group_size = 2, .shape = Shape{4}}).find("Kind mismatch"),
            std::string::npos);
}

TEST(CollectiveBcast, RefusesTwoSources) {
  Graph graph;
  const Output value = graph.constant(Tensor(std::vector<float>{1, 2}));
  const Options options{.op = "CollectiveBcastSend", .group_size = 2, .shape = Shape{2}};
  const std::string error = failure(graph, {member(graph, 0, value, options), member(graph, 1, value, options)});
  EXPECT_NE(error.find("already has source"), std::string::npos) << error;
}

TEST(CollectiveReduce, WaitsForItsGroupUntilTheDeadline) {
  Graph graph;
  const Output one = member(graph, 0, graph.constant(Tensor(std::vector<float>{1})), {.group_size = 2});
  const Output two = member(graph, 1, graph.constant(Tensor(std::vector<float>{2})), {.group_size = 2});
  Session session(graph, {.device_count = {{"CPU", 2}}});
  EXPECT_THROW(session.run(one, {}, {}, {.timeout = std::chrono::milliseconds(50)}), Error);
  expect_all<float>(session.run(std::vector<Output>{one, two}), {3});  // who has given up is no member
}

TEST(CollectiveReduce, RefusesAMemberTooMany) {
  Graph graph;
  std::vector<Output> fetches;
  for (int i = 0; i < 3; ++i) {
    fetches.push_back(member(graph, i, graph.constant(Tensor(std::vector<float>{1})), {.group_size = 2}));
  }
  EXPECT_NE(failure(graph, fetches).find("is none of them"), std::string::npos);
}

}  // namespace
}  // namespace weir
