#include <gtest/gtest.h>

#include "weir/control_flow.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

// The array operations of one version, as graphs from elsewhere have them.
struct Array {
  std::string version;  // "", "V2" or "V3"
  Output handle, flow;

  std::string op(const std::string& name) const { return name + version; }
  Output write(const In& index, const Output& value, const Output& after) const {
    return NodeBuilder(op("TensorArrayWrite")).input(handle).input(index).input(value).input(after).output();
  }
  Output read(const In& index, const Output& after, DType dtype = float32) const {
    return NodeBuilder(op("TensorArrayRead")).input(handle).input(index).input(after).attr("dtype", dtype).output();
  }
  Output gather(const In& indices, const Output& after) const {
    return NodeBuilder(op("TensorArrayGather"))
        .input(handle)
        .input(indices)
        .input(after)
        .attr("dtype", float32)
        .output();
  }
  Output scatter(const In& indices, const Output& value, const Output& after) const {
    return NodeBuilder(op("TensorArrayScatter")).input(handle).input(indices).input(value).input(after).output();
  }
  Operation concat(const Output& after) const {
    return NodeBuilder(op("TensorArrayConcat")).input(handle).input(after).attr("dtype", float32).build();
  }
  Output split(const Output& value, const In& lengths, const Output& after) const {
    return NodeBuilder(op("TensorArraySplit")).input(handle).input(value).input(lengths).input(after).output();
  }
  Output size(const Output& after) const {
    return NodeBuilder(op("TensorArraySize")).input(handle).input(after).output();
  }
};

Array make_array(Graph& g, const std::string& version, int size, bool dynamic = false, bool clears = true) {
  Operation made = NodeBuilder("TensorArray" + version)
                       .graph(g)
                       .input(size)
                       .attr("dtype", float32)
                       .attr("dynamic_size", dynamic)
                       .attr("clear_after_read", clears)
                       .attr("tensor_array_name", std::string("foo"))
                       .build();
  return {version, made.output(0), made.outputs() > 1 ? made.output(1) : g.constant(0.f)};
}

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

class TensorArrayVersions : public testing::TestWithParam<std::string> {};

TEST_P(TensorArrayVersions, KeepsWhatIsWrittenAndSumsItsGradients) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Array array = make_array(g, GetParam(), 2, false, false);
  Output flow = array.write(1, x * 3, array.write(0, x * 2, array.flow));
  Output first = array.read(0, flow), again = array.read(0, flow), second = array.read(1, flow);
  Output grad = gradients({first, again, second}, {x})[0].dense();
  Session s(g);
  auto [a, b, dx, n] = s.run({first, second, grad, array.size(flow)}, {{x, std::vector<float>{1, 10}}});
  EXPECT_EQ(a.data<float>()[1], 20);
  EXPECT_EQ(b.data<float>()[1], 30);
  EXPECT_EQ(dx.data<float>()[0], 2 + 2 + 3);
  EXPECT_EQ(n.scalar<int32_t>(), 2);
}

TEST_P(TensorArrayVersions, RowsAndPiecesComeBackWithGradients) {
  Graph g;
  Output x = g.placeholder(float32, {3, 2});
  Array rows = make_array(g, GetParam(), 3), pieces = make_array(g, GetParam(), 2);
  Output gathered = rows.gather({2, 0}, rows.scatter({0, 1, 2}, x, rows.flow));
  Operation joined = pieces.concat(pieces.split(x, Tensor(std::vector<int64_t>{1, 2}), pieces.flow));
  Output dx = gradients({gathered}, {x})[0].dense(), dy = gradients({joined.output(0)}, {x})[0].dense();
  Session s(g);
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  auto [a, b, lengths, da, db] =
      s.run({gathered, joined.output(0), joined.output(1), dx, dy}, {{x, Tensor::from<float>(values, {3, 2})}});
  EXPECT_EQ(a.str(), "float [2,2] [5 6 1 2]");
  EXPECT_EQ(b.str(), "float [3,2] [1 2 3 4 5 6]");
  EXPECT_EQ(lengths.data<int64_t>()[1], 2);
  EXPECT_EQ(da.str(), "float [3,2] [1 1 0 0 1 1]");
  EXPECT_EQ(db.str(), "float [3,2] [1 1 1 1 1 1]");
}

TEST_P(TensorArrayVersions, RefusesInTensorFlowsWords) {
  Graph g;
  Output x = g.constant(1.f);
  Session s(g);
  auto array = [&] { return make_array(g, GetParam(), 2); };
  Array a = array();
  EXPECT_NE(message_of([&] {
              s.run(a.write(2, x, a.flow));
            }).find("Tried to write to index 2 but array is not resizeable and size is: 2"),
            std::string::npos);
  a = array();
  EXPECT_NE(
      message_of([&] { s.run(a.write(0, x, a.write(0, x, a.flow))); }).find("because it has already been written to."),
      std::string::npos);
  a = array();
  Output flow = a.write(0, x, a.flow);
  EXPECT_NE(message_of([&] {
              s.run({a.read(0, flow), a.read(0, flow)});
            }).find("twice because it was cleared"),
            std::string::npos);
  a = array();
  EXPECT_NE(message_of([&] { s.run(a.read(1, a.flow)); }).find("Could not read from TensorArray index 1"),
            std::string::npos);
  a = array();
  EXPECT_NE(message_of([&] {
              s.run(a.read(0, a.flow, int32));
            }).find("TensorArray dtype is float but Op requested dtype int32"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { s.run(make_array(g, GetParam(), -1).size(g.constant(0.f))); }).find("Size should be >= 0."),
      std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, TensorArrayVersions, testing::Values("", "V2", "V3"),
                         [](const auto& version) { return version.param.empty() ? "V1" : version.param; });

TEST(TensorArrayV3, PassesThroughALoopAndGrows) {
  Graph g;
  Array array = make_array(g, "V3", 0, true);
  std::vector<Output> last =
      while_loop([](const std::vector<Output>& v) { return v[0] < 4; },
                 [&](const std::vector<Output>& v) {
                   return std::vector<Output>{v[0] + 1, array.write(v[0], cast(v[0], float32) * 10, v[1])};
                 },
                 {g.constant(0), array.flow});
  Session s(g);
  EXPECT_EQ(s.run(array.gather({0, 1, 2, 3}, last[1])).str(), "float [4] [0 10 20 30]");
  EXPECT_EQ(s.run(array.gather({3}, last[1])).str(), "float [1] [30]") << "every run has an array of its own";
}

class Stacks : public testing::TestWithParam<std::string> {};

TEST_P(Stacks, GiveBackWhatWasPushedLastAndRefuseMore) {
  Graph g;
  const std::string version = GetParam();
  NodeBuilder builder("Stack" + version);
  builder.graph(g).attr("elem_type", float32);
  if (version == "V2") builder.input(2);
  Output stack = builder.output();
  auto push = [&](float value, const std::vector<Operation>& after) {
    Scope scope = g.control_dependencies(after);
    return NodeBuilder("StackPush" + version).input(stack).input(g.constant(value)).output();
  };
  auto pop = [&](const std::vector<Operation>& after) {
    Scope scope = g.control_dependencies(after);
    return NodeBuilder("StackPop" + version).input(stack).attr("elem_type", float32).output();
  };
  Output one = push(1, {}), two = push(2, {one.op()});
  Output first = pop({two.op()}), second = pop({first.op()}), third = pop({second.op()});
  Session s(g);
  for (int run = 0; run < 2; ++run) {
    auto [a, b] = s.run({first, second});
    EXPECT_EQ(a.scalar<float>(), 2);
    EXPECT_EQ(b.scalar<float>(), 1);
  }
  EXPECT_NE(message_of([&] { s.run(third); }).find("is empty when calling Pop()"), std::string::npos);
  if (version == "V2") {
    EXPECT_NE(message_of([&] { s.run(push(3, {two.op()})); }).find("overflowed its max_size (2)"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Stacks, testing::Values("", "V2"),
                         [](const auto& version) { return version.param.empty() ? "V1" : version.param; });

}  // namespace
}  // namespace weir
