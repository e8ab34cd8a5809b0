#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

namespace weir {
namespace {

using testing::expect_error;

// Names and types of all nodes, in order: "W:VariableV2 W/read:Identity".
std::string nodes(const Graph& g, int64_t from = 0) {
  std::string text;
  for (const Operation& op : g.operations()) {
    if (from-- > 0) continue;
    text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return text;
}

std::string beside(const Operation& op) {
  const AttrValue* entry = op.attrs().find("_class");
  return entry ? std::get<std::vector<std::string>>(*entry).at(0) : "";
}

TEST(Variable, HasTensorFlowsNodes) {
  Graph g;
  Variable w = g.variable("W", {{1.f, 2.f}});
  EXPECT_EQ(nodes(g), "W/initial_value:Const W:VariableV2 W/Assign:Assign W/read:Identity");
  EXPECT_EQ(beside(w.handle().op()), "");
  EXPECT_EQ(beside(w.initializer()), "loc:@W");
  EXPECT_EQ(beside(w.value().op()), "loc:@W");
  EXPECT_EQ(w.name(), "W");
  EXPECT_EQ(w.shape(), (Shape{1, 2}));
  EXPECT_EQ(w.dtype(), float32);
  EXPECT_FALSE(w.is_resource());
}

TEST(Variable, HasTensorFlowsNodesAsAResource) {
  Graph g;
  Variable v = g.variable("", 3, {.use_resource = true});
  EXPECT_EQ(nodes(g),
            "Variable/Initializer/initial_value:Const Variable:VarHandleOp "
            "Variable/IsInitialized/VarIsInitializedOp:VarIsInitializedOp Variable/Assign:AssignVariableOp "
            "Variable/Read/ReadVariableOp:ReadVariableOp");
  EXPECT_EQ(v.handle().op().attrs().get<std::string>("shared_name"), "Variable");
  EXPECT_EQ(v.value().shape(), Shape{});
  EXPECT_TRUE(v.is_resource());
}

TEST(Variable, IsInNoCollectionWhenTheOnlyOneHasNoName) {
  Graph g;
  g.variable("v", 1.f, {.trainable = false, .collections = {""}});
  EXPECT_TRUE(g.collection_names().empty());
}

TEST(Variable, IsReadAnewWhereControlDependenciesOrderAResource) {
  Graph g;
  Variable v = g.variable("v", 1.f, {.use_resource = true}), w = g.variable("w", 1.f);
  Operation write = assign(v, 5.f).op();
  Scope after = g.control_dependencies({write});
  Output read = identity(v).op().input(0);
  EXPECT_NE(read, v.value());
  EXPECT_EQ(read.op().type(), "ReadVariableOp");
  EXPECT_EQ(identity(w).op().input(0), w.value());  // a reference is read once, as in TensorFlow
}

TEST(Variable, TakesTheTypeThatIsAskedFor) {
  Graph g;
  EXPECT_EQ(g.variable("a", 1).dtype(), int32);
  EXPECT_EQ(g.variable("b", 1, {.dtype = float64}).dtype(), float64);
  EXPECT_EQ(g.variable("c", Tensor(1.0)).dtype(), float64);
  expect_error([&] { g.variable("d", Tensor(1.0), {.dtype = float32}); }, Code::InvalidArgument, "is to be float");
}

TEST(Variable, NeedsAKnownShape) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3}, "x");
  expect_error([&] { g.variable("v", x); }, Code::InvalidArgument, "[?,3]");
  EXPECT_FALSE(g.variable("w", x, {.validate_shape = false}).shape().has_rank());
}

TEST(Variable, IsInTheCollectionsThatAreAskedFor) {
  Graph g;
  g.variable("a", 1.f);
  g.variable("b", 1.f, {.trainable = false});
  g.variable("c", 1.f, {.trainable = false, .collections = {"local_variables"}});
  EXPECT_EQ(g.global_variables().size(), 2u);
  EXPECT_EQ(g.trainable_variables().size(), 1u);
  EXPECT_EQ(g.collection("local_variables").size(), 1u);
  Operation init = g.global_variables_initializer();
  EXPECT_EQ(init.name(), "init");
  EXPECT_EQ(init.control_inputs().size(), 2u);
}

TEST(Variable, IsInitialisedOutsideControlDependencies) {
  Graph g;
  Operation first = g.no_op("first");
  Scope scope = g.control_dependencies({first});
  Variable v = g.variable("v", 1.f);
  EXPECT_TRUE(v.initializer().control_inputs().empty());
}

TEST(GetVariable, HasTensorFlowsNodes) {
  Graph g;
  auto scope = g.variable_scope("l1");
  g.get_variable("w", {2, 3}, {.initializer = truncated_normal_initializer(0.1f), .regularizer = l2_regularizer(0.5f)});
  EXPECT_EQ(nodes(g),
            "l1/w/Initializer/truncated_normal/shape:Const l1/w/Initializer/truncated_normal/mean:Const "
            "l1/w/Initializer/truncated_normal/stddev:Const "
            "l1/w/Initializer/truncated_normal/TruncatedNormal:TruncatedNormal "
            "l1/w/Initializer/truncated_normal/mul:Mul l1/w/Initializer/truncated_normal:Add l1/w:VariableV2 "
            "l1/w/Assign:Assign l1/w/read:Identity l1/w/Regularizer/l2_regularizer/scale:Const "
            "l1/w/Regularizer/l2_regularizer/L2Loss:L2Loss l1/w/Regularizer/l2_regularizer:Mul");
  for (const Operation& op : g.operations()) EXPECT_EQ(beside(op), "loc:@l1/w") << op.name();
  EXPECT_EQ(g.collection("regularization_losses").size(), 1u);

  int64_t made = g.version();
  g.get_variable("b", {2}, {.initializer = constant_initializer(0.1)});
  EXPECT_EQ(nodes(g, made), "l1/b/Initializer/Const:Const l1/b:VariableV2 l1/b/Assign:Assign l1/b/read:Identity");
  made = g.version();
  g.get_variable("d", {2, 2});
  EXPECT_EQ(nodes(g, made),
            "l1/d/Initializer/random_uniform/shape:Const l1/d/Initializer/random_uniform/min:Const "
            "l1/d/Initializer/random_uniform/max:Const l1/d/Initializer/random_uniform/RandomUniform:RandomUniform "
            "l1/d/Initializer/random_uniform/sub:Sub l1/d/Initializer/random_uniform/mul:Mul "
            "l1/d/Initializer/random_uniform:Add l1/d:VariableV2 l1/d/Assign:Assign l1/d/read:Identity");
}

TEST(GetVariable, MakesAVariableOnceAndSharesItWhenAskedTo) {
  Graph g;
  Variable made;
  {
    auto scope = g.variable_scope("layer");
    made = g.get_variable("w", {2, 3});
    const std::string line = std::to_string(__LINE__ - 1);
    expect_error([&] { g.get_variable("w", {2, 3}); }, Code::InvalidArgument, "variables_test.cc\", line " + line);
    scope.reuse_variables();
    EXPECT_EQ(g.get_variable("w", {2, 3}).handle(), made.handle());
  }
  auto again = g.variable_scope("layer", {.reuse = true});
  EXPECT_EQ(g.get_variable("w", {2, 3}).handle(), made.handle());
  expect_error([&] { g.get_variable("v", {2, 3}); }, Code::InvalidArgument, "Variable layer/v does not exist");
  expect_error(
      [&] {
        g.get_variable("w", {3, 3});
      },
      Code::InvalidArgument, "specified shape (3, 3) and found shape (2, 3)");
  expect_error(
      [&] {
        g.get_variable("w", {2, 3}, {.dtype = float64});
      },
      Code::InvalidArgument, "specified dtype double and found dtype float");
  auto inner = g.variable_scope("deeper", {.reuse = false});
  expect_error([&] { g.get_variable("w", {1}); }, Code::InvalidArgument, "Variable layer/deeper/w does not exist");
}

TEST(GetVariable, AutoReuseDoesWhicheverApplies) {
  Graph g;
  for (int i = 0; i < 2; ++i) {
    auto scope = g.variable_scope("s", {.reuse = kAutoReuse});
    g.get_variable("w", {1});
  }
  EXPECT_EQ(g.global_variables().size(), 1u);
}

TEST(VariableScope, GivesDefaultsToItsVariables) {
  Graph g;
  auto scope = g.variable_scope("s", {.initializer = zeros_initializer(), .dtype = float64, .use_resource = true});
  Variable v = g.get_variable("v", {2});
  EXPECT_TRUE(v.is_resource());
  EXPECT_EQ(v.dtype(), float64);
  EXPECT_EQ(v.initial_value().op().name(), "s/v/Initializer/zeros");
  Variable from_value = g.get_variable("w", Shape::unknown(), {.initializer = Tensor(std::vector<float>{1, 2})});
  EXPECT_EQ(from_value.shape(), Shape{2});
  EXPECT_EQ(from_value.dtype(), float32);
}

TEST(VariableScope, OpensANameScopeThatIsUnique) {
  Graph g;
  for (const char* expected : {"a/", "a_1/"}) {
    auto scope = g.variable_scope("a");
    EXPECT_EQ(scope.name(), "a");
    EXPECT_EQ(scope.original_name_scope(), expected);
    auto inner = g.variable_scope("b", {.unique = true});
    EXPECT_EQ(inner.name(), "a/b");
  }
  auto first = g.variable_scope("b", {.unique = true});
  EXPECT_EQ(first.name(), "b");
  EXPECT_EQ(g.variable_scope().name(), "b");
}

TEST(VariableScope, NumbersScopesThatMustBeUnique) {
  Graph g;
  { auto scope = g.variable_scope("b", {.unique = true}); }
  auto scope = g.variable_scope("b", {.unique = true});
  EXPECT_EQ(scope.name(), "b_1");
}

}  // namespace
}  // namespace weir
