#include "weir/variable_scope.h"

#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/layers.h"
#include "weir/ops.h"
#include "weir/optimizers.h"
#include "weir/partitioned_variable.h"
#include "weir/session.h"

namespace weir {
namespace {

using testing::expect_error;

TEST(VariableScope, KeepsTheNameScopeWithoutAnAuxiliaryOne) {
  Graph g;
  auto outer = g.name_scope("outer");
  auto scope = g.variable_scope("layer", {.auxiliary_name_scope = false});
  EXPECT_EQ(g.no_op("n").name(), "outer/n");
  EXPECT_EQ(g.get_variable("w", {2}).name(), "layer/w");
}

TEST(VariableScope, CountsOnAsIfAScopeHadNotBeenEnteredAgain) {
  Graph g;
  std::optional<VariableScope> kept;
  {
    auto scope = g.variable_scope("a");
    kept.emplace(scope.handle());
    EXPECT_EQ(g.variable_scope("inner", {.unique = true}).name(), "a/inner");
  }
  {
    auto again = variable_scope(g, *kept);
    EXPECT_EQ(g.variable_scope("inner", {.unique = true}).name(), "a/inner");
  }
}

TEST(VariableScope, InnerGettersAreCalledFirstAndAskOuterOnes) {
  Graph g;
  auto rename = [](std::string suffix) -> CustomGetter {
    return [suffix](const VariableGetter& getter, const std::string& name, const Shape& shape,
                    const GetVariableOptions& options) { return getter(name + suffix, shape, options); };
  };
  auto outer = g.variable_scope("a", {.custom_getter = rename("_outer")});
  auto inner = g.variable_scope("b", {.custom_getter = rename("_inner")});
  EXPECT_EQ(g.get_variable("w", {2}).name(), "a/b/w_inner_outer");
}

TEST(VariableScope, TemplatesShareTheVariablesOfTheirFirstCall) {
  Graph g;
  Output x = g.placeholder(float32, {2, 2}, "x");
  auto dense = make_template(g, "dense", [](Output in) { return matmul(in, in.graph().get_variable("w", {2, 2})); });
  dense(x);
  dense(x);
  auto other = make_template(g, "dense", [](Output in) { return matmul(in, in.graph().get_variable("w", {2, 2})); });
  other(x);
  ASSERT_EQ(g.global_variables().size(), 2);
  EXPECT_EQ(g.global_variables()[1].name(), "dense_1/w");
}

TEST(VariableScope, ConstraintsFollowUpdates) {
  Graph g;
  Variable w = g.get_variable("w", {1}, {.initializer = ones_initializer(), .constraint = [](const Output& value) {
                                           return minimum(value, 0.5f);
                                         }});
  Operation step = train::GradientDescent(0.1f).minimize(reduce_sum(Output(w)));
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(step);
  EXPECT_EQ(session.run(w).data<float>()[0], 0.5f);
}

TEST(PartitionedVariable, IsCutInPartsOfNearlyOneSize) {
  Graph g;
  PartitionedVariable v = get_partitioned_variable(g, "v", {5, 2}, fixed_size_partitioner(2));
  ASSERT_EQ(v.parts().size(), 2);
  EXPECT_EQ(v.parts()[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(v.parts()[1].name(), "v/part_1");
  EXPECT_EQ(v.value().shape(), (Shape{5, 2}));
  EXPECT_EQ(v.value().name(), "v:0");
  EXPECT_EQ(save_slice_info(v.parts()[1])->var_offset, (std::vector<int64_t>{3, 0}));
  expect_error(
      [&] {
        get_partitioned_variable(g, "v", {5, 2}, fixed_size_partitioner(2));
      },
      Code::InvalidArgument, "Partitioned variable with name v already exists");
  expect_error(
      [&] {
        get_partitioned_variable(g, "u", {5, 2}, [](const Shape&, DType) { return std::vector<int64_t>{2, 2}; });
      },
      Code::InvalidArgument, "Can only slice a variable along one dimension");
}

TEST(PartitionedVariable, BeginsWithPartsOfAValue) {
  Graph g;
  PartitionedVariable v = get_partitioned_variable(g, "v", {3}, fixed_size_partitioner(2),
                                                   {.initializer = Initializer(Tensor(std::vector<float>{1, 2, 3}))});
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(v.parts()[1]).data<float>()[0], 3);
}

class Scale : public layers::Layer {
 public:
  using Layer::Layer;

 private:
  void build(const Shape& input) override {
    set_input_spec({.ndim = 2, .axes = {{-1, input[-1]}}});
    factor_ = add_weight("factor", {input[-1]}, {.initializer = ones_initializer(), .regularizer = l2_regularizer(1)});
  }
  Output call(const Output& inputs) override { return inputs * factor_; }
  Variable factor_;
};

TEST(Layer, BuildsOnceAndSharesItsVariables) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3}, "x");
  Scale scale("scale");
  EXPECT_EQ(scale(x).op().name(), "scale/mul");
  EXPECT_EQ(scale(x).op().name(), "scale/mul_1");
  EXPECT_EQ(scale.weights().size(), 1);
  EXPECT_EQ(scale.count_params(), 3);
  EXPECT_EQ(scale.losses()[0].op().name(), "scale/factor/Regularizer/l2_regularizer");
  EXPECT_EQ(g.collection("regularization_losses").size(), 1);
  Scale other("scale");
  other(x);
  EXPECT_EQ(other.scope_name(), "scale_1");
  expect_error(
      [&] {
        scale(g.placeholder(float32, {2, 4}));
      },
      Code::InvalidArgument,
      "Input 0 of layer scale is incompatible with the layer: expected axis -1 of input shape to have value 3 "
      "but received input with shape [2, 4]");
}

}  // namespace
}  // namespace weir
