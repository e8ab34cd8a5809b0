#include "weir/graph.h"

#include <gtest/gtest.h>

#include "graph/graph_impl.h"
#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_same;

std::vector<std::string> names(const std::vector<Operation>& operations) {
  std::vector<std::string> result;
  for (const Operation& op : operations) result.push_back(op.name());
  return result;
}

using Strings = std::vector<std::string>;

TEST(Graph, FindsOperationsAndTensorsByName) {
  Graph g;
  Output a = g.constant(Tensor(1.f), "a");
  EXPECT_EQ(g.operation("a"), a.op());
  EXPECT_EQ(g.output("a:0"), a);
  EXPECT_FALSE(g.find("b"));
  expect_error([&] { g.operation("b"); }, Code::NotFound, "'b'");
  expect_error([&] { g.output("a"); }, Code::InvalidArgument, "'a:0'");
  expect_error([&] { g.output("a:1"); }, Code::OutOfRange, "output 1");
  for (const char* bad : {"a:", "a:x", "a:-1", "a:99999999999999999999"}) {
    expect_error([&] { g.output(bad); }, Code::InvalidArgument, bad);
  }
}

TEST(Graph, ControlDependenciesAreTensorFlows) {
  Graph g;
  Output a = g.constant(Tensor(1.f), "a"), b = g.constant(Tensor(2.f), "b");
  auto control = [](const Output& output) { return names(output.op().control_inputs()); };
  Scope outer = g.control_dependencies({a.op()});
  Output c = g.constant(Tensor(3.f), "c");
  EXPECT_EQ(control(c), Strings{"a"});
  Output d = identity(c, "d");
  EXPECT_EQ(control(d), Strings{});  // c has waited already
  EXPECT_EQ(control(identity(a, "e")), Strings{});
  Scope inner = g.control_dependencies({b.op(), c.op()});
  Output f = g.constant(Tensor(3.f), "f");
  EXPECT_EQ(control(f), (Strings{"a", "b", "c"}));
  EXPECT_EQ(control(identity(d, "h")), (Strings{"b", "c"}));
  EXPECT_EQ(control(identity(f, "i")), Strings{});
  Scope none = g.clear_control_dependencies();
  EXPECT_EQ(control(g.constant(Tensor(1.f), "j")), Strings{});
  Scope again = g.control_dependencies({a.op()});
  EXPECT_EQ(control(g.constant(Tensor(1.f), "k")), Strings{"a"});
}

TEST(Graph, ColocationBecomesAnAttribute) {
  Graph g;
  Output a = g.constant(Tensor(1.f), "a");
  Scope beside = g.colocate_with(a.op());
  Output b = g.constant(Tensor(1.f), "b");
  EXPECT_EQ(b.op().attrs().get<Strings>("_class"), Strings{"loc:@a"});
}

TEST(Graph, SeedsAreDerivedAsTensorFlowDoes) {
  Graph g;
  auto seeds = [&](std::optional<int64_t> op_seed) {
    Seeds s = g.next_seeds(op_seed);
    return std::pair(s.seed, s.seed2);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(seeds(std::nullopt), Pair(0, 0));
  EXPECT_EQ(seeds(5), Pair(87654321, 5));
  EXPECT_EQ(seeds(0), Pair(87654321, 0));
  EXPECT_EQ(seeds(0x7fffffff), Pair(87654321, 0));
  EXPECT_EQ(seeds(-3), Pair(87654321, 2147483644));
  for (int i = 0; i < 28; ++i) g.constant(Tensor(1.f));
  g.set_random_seed(7);
  EXPECT_EQ(seeds(std::nullopt), Pair(7, 28));
  EXPECT_EQ(seeds(5), Pair(7, 5));
  g.set_random_seed(0);
  EXPECT_EQ(seeds(0), Pair(0, 2147483647));
  g.set_random_seed((int64_t{1} << 40) + 3);
  EXPECT_EQ(seeds((int64_t{1} << 35) + 1), Pair(515, 17));
  g.set_random_seed(-4);
  EXPECT_EQ(seeds(-9), Pair(2147483643, 2147483638));
}

TEST(Graph, CollectionsKeepOrder) {
  Graph g;
  g.add_to_collection("things", std::string("a"));
  g.add_to_collection("things", 2);
  ASSERT_EQ(g.collection("things").size(), 2u);
  EXPECT_EQ(std::any_cast<int>(g.collection("things")[1]), 2);
  EXPECT_TRUE(g.collection("others").empty());
  EXPECT_EQ(g.collection_names(), Strings{"things"});
  g.clear_collection("things");
  EXPECT_TRUE(g.collection("things").empty());
}

TEST(Graph, ShapesGainKnowledgeAndRefuseContradiction) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3}, "x");
  x.set_shape({2, kUnknown});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  expect_error([&] { x.set_shape({4, 3}); }, Code::InvalidArgument, "Placeholder 'x'");
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
}

TEST(Graph, RefusesInputsOfAnotherGraph) {
  Graph g, other;
  Output a = g.constant(Tensor(1.f)), b = other.constant(Tensor(1.f));
  expect_error([&] { a + b; }, Code::InvalidArgument, "another graph");
}

TEST(Graph, AFinalizedGraphTakesNoNodesAndNoItems) {
  Graph g;
  Output x = g.constant(1.f);
  g.add_to_collection("kept", x);
  const std::string before = g.to_graph_def();
  g.finalize();
  EXPECT_TRUE(g.finalized());
  auto refused = [](auto change) {
    try {
      change();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::FailedPrecondition);
      EXPECT_EQ(e.message(), "Graph is finalized and cannot be modified.");
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { g.constant(2.f); }));
  EXPECT_TRUE(refused([&] { x + x; }));
  EXPECT_TRUE(refused([&] { g.add({.op = "NoOp"}); }));
  EXPECT_TRUE(refused([&] { g.variable("v", 1.f); }));
  EXPECT_TRUE(refused([&] { g.import_graph_def(before, {.prefix = "again"}); }));
  EXPECT_TRUE(refused([&] { g.add_to_collection("kept", x); }));
  EXPECT_TRUE(refused([&] { g.clear_collection("kept"); }));
  EXPECT_EQ(g.version(), 1);
  EXPECT_EQ(g.collection("kept").size(), 1u);
  g.unfinalize();
  g.constant(2.f);
  EXPECT_EQ(g.version(), 2);
}

TEST(Graph, TellsWrongTypesFromWrongValues) {
  Graph g;
  Output number = g.constant(1.f), text = g.constant("a");
  auto fault = [](auto build) {
    try {
      build();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument);
      return e.fault();
    }
    ADD_FAILURE() << "nothing was refused";
    return Fault::Value;
  };
  EXPECT_EQ(fault([&] { g.add({.op = "Sqrt", .inputs = {text}}); }), Fault::Type);
  EXPECT_EQ(fault([&] { g.add({.op = "Add", .inputs = {number, text}}); }), Fault::Type);
  EXPECT_EQ(fault([&] { g.add({.op = "MatMul", .inputs = {number, number}}); }), Fault::Value);
}

TEST(NodeBuilder, ValuesBecomeConstantsBelowTheNode) {
  Graph g;
  Output x = g.placeholder(float32, {2}, "x");
  Output y = x * 2;
  EXPECT_EQ(y.op().name(), "mul");
  EXPECT_EQ(y.op().input(1).op().name(), "mul/y");
  EXPECT_EQ(y.op().input(1).dtype(), float32);
  Output z = concat({x, {3, 4}}, 0, "c");
  EXPECT_EQ(z.op().input(1).op().type(), "Const");
  EXPECT_EQ(z.shape(), Shape{4});
}

TEST(NodeBuilder, LiteralsTakeTheTypeOfTheirNeighbours) {
  Graph g;
  for (DType dtype : {float32, float64, float16, int32, int64, uint8, complex64}) {
    Output x = g.placeholder(dtype, {2});
    EXPECT_EQ((x + 1).dtype(), dtype);
    EXPECT_EQ((x + 1).op().input(1).dtype(), dtype);
  }
  Output bytes = g.placeholder(uint8, {2}, "bytes");
  expect_error([&] { bytes + 300; }, Code::InvalidArgument, "300 does not fit uint8");
  expect_error([&] { bytes + 1.5; }, Code::InvalidArgument, "expected uint8");
  expect_error([&] { bytes + "a"; }, Code::InvalidArgument, "uint8");
}

TEST(NodeBuilder, ErrorsNameTheNodeAndTheUsersLine) {
  Graph g;
  Output x = g.placeholder(float32, {2, 3}, "x");
  try {
    matmul(x, x, {}, "bad");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.line().line, __LINE__ - 3u);
    EXPECT_TRUE(e.line().file.ends_with("graph_test.cc")) << e.line().file;
    EXPECT_EQ(e.op(), "MatMul");
    EXPECT_EQ(e.node(), "bad");
  }
  try {
    x + g.constant(Tensor(1));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.line().line, __LINE__ - 3u);
    EXPECT_NE(std::string(e.what()).find("must be float"), std::string::npos) << e.what();
  }
}

TEST(NodeBuilder, RefusesWhatTheSignatureDoesNotHave) {
  Graph g;
  Output x = g.placeholder(float32, {2}, "x");
  expect_error([&] { NodeBuilder("NoSuchThing").input(x).build(); }, Code::NotFound, "NoSuchThing");
  expect_error([&] { NodeBuilder("Identity").input(x).input(x).build(); }, Code::InvalidArgument, "2 arguments");
  expect_error([&] { NodeBuilder("Identity").input(x).attr("depth", 1).build(); }, Code::InvalidArgument,
               "no attribute 'depth'");
  expect_error([&] { NodeBuilder("Identity").input(x).attr("T", 1).build(); }, Code::InvalidArgument, "of kind type");
  expect_error([&] { NodeBuilder("Identity").input(x).attr("T", int32).build(); }, Code::InvalidArgument,
               "must be int32");
  expect_error([&] { NodeBuilder("Identity").input(1).build(); }, Code::InvalidArgument, "no argument belongs to");
  EXPECT_EQ(g.operations().size(), 1u);
}

TEST(Literal, NestedListsHaveTheirShape) {
  EXPECT_EQ(Literal({{1, 2, 3}, {4, 5, 6}}).tensor().shape(), (Shape{2, 3}));
  EXPECT_EQ(Literal({{1, 2}, {3, 4.5}}).tensor().dtype(), float64);
  EXPECT_EQ(Literal({"a", "b"}).tensor().data<std::string>()[1], "b");
  EXPECT_EQ(Literal({true, false}).tensor().dtype(), boolean);
  expect_error([] { Literal({{1, 2}, {3}}); }, Code::InvalidArgument, "ragged");
  expect_error([] { Literal({1, "a"}); }, Code::InvalidArgument, "mixes kinds");
}

TEST(Literal, BecomesFloatOrInt32WhenNothingElseDecides) {
  Graph g;
  EXPECT_EQ(default_literal_type(Literal(1).tensor()), int32);
  EXPECT_EQ(default_literal_type(Literal(1.5).tensor()), float32);
  expect_same(convert_literal(Literal({1, 2}).tensor(), float16), Tensor(std::vector<Half>{Half(1), Half(2)}));
  expect_error([] { convert_literal(Literal(int64_t{1} << 40).tensor(), int32); }, Code::InvalidArgument,
               "does not fit");
}

}  // namespace
}  // namespace weir
