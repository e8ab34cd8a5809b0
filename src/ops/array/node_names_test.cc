#include <gtest/gtest.h>

#include "weir/ops.h"

// Checkpoints depend on the names of nodes and seeds on their number, so functions that make several nodes must make
// TensorFlow's. The lists are recorded with TensorFlow 1.15.
namespace weir {
namespace {

std::string nodes_of(const Graph& g) {
  std::string names;
  for (const Operation& op : g.operations()) {
    if (op.type() == "Placeholder") continue;
    names += (names.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return names;
}

template <class F>
std::string made_by(F&& make) {
  Graph g;
  make(g);
  return nodes_of(g);
}

Output x(Graph& g, const Shape& shape = {4, 2}) { return g.placeholder(float32, shape); }

TEST(NodeNames, OfConstantsAreTensorFlows) {
  EXPECT_EQ(made_by([](Graph& g) { zeros(g, {2, 3}); }), "zeros:Const");
  EXPECT_EQ(made_by([](Graph& g) {
              zeros(g, {200, 300});
            }),
            "zeros/shape_as_tensor:Const zeros/Const:Const zeros:Fill");
  EXPECT_EQ(made_by([](Graph& g) {
              zeros(g, shape(x(g, {kUnknown, 2})));
            }),
            "Shape:Shape zeros/Const:Const zeros:Fill");
  EXPECT_EQ(made_by([](Graph& g) { zeros_like(x(g)); }), "zeros_like:Const");
  EXPECT_EQ(made_by([](Graph& g) { zeros_like(x(g, {kUnknown, 3})); }), "zeros_like:ZerosLike");
  EXPECT_EQ(made_by([](Graph& g) {
              zeros_like(x(g, {kUnknown, 3}), int32);
            }),
            "zeros_like/Shape:Shape zeros_like/Const:Const zeros_like:Fill");
  EXPECT_EQ(made_by([](Graph& g) { ones_like(x(g)); }), "ones_like/Shape:Const ones_like/Const:Const ones_like:Fill");
  EXPECT_EQ(made_by([](Graph& g) { range(g, 0, 5); }),
            "range/start:Const range/limit:Const range/delta:Const range:Range");
  EXPECT_EQ(made_by([](Graph& g) { range(0, g.placeholder(int64, Shape{})); }),
            "range/start:Const range/delta:Const range/Cast:Cast range/Cast_1:Cast range:Range");
  EXPECT_EQ(made_by([](Graph& g) { fill(g, {2, 3}, 1.f); }), "Fill/dims:Const Fill/value:Const Fill:Fill");
  EXPECT_EQ(made_by([](Graph& g) { one_hot(g.placeholder(int32, {2}), 10); }),
            "one_hot/on_value:Const one_hot/off_value:Const one_hot/depth:Const one_hot:OneHot");
}

TEST(NodeNames, OfJoinsAndCutsAreTensorFlows) {
  EXPECT_EQ(made_by([](Graph& g) { split(x(g), 2, 1); }), "Const:Const split/split_dim:Const split:Split");
  EXPECT_EQ(made_by([](Graph& g) { split(x(g), {1, 3}, 0); }), "Const:Const split/split_dim:Const split:SplitV");
  EXPECT_EQ(made_by([](Graph& g) { stack({x(g, {2}), In({1., 2.})}); }), "stack/1_1:Const stack:Pack");
  EXPECT_EQ(made_by([](Graph& g) { stack({x(g, {2}), x(g, {2})}); }), "stack:Pack");
  EXPECT_EQ(made_by([](Graph& g) {
              concat({x(g, {2}), In({1., 2.})}, 0);
            }),
            "concat/values_1:Const concat/axis:Const concat:ConcatV2");
  EXPECT_EQ(made_by([](Graph& g) { concat({x(g, {2})}, 0); }), "concat/concat_dim:Const concat/concat:Identity");
  EXPECT_EQ(made_by([](Graph& g) { unstack(x(g)); }), "unstack:Unpack");
  EXPECT_EQ(made_by([](Graph& g) {
              subscript(x(g), {0, from(1)});
            }),
            "strided_slice/stack:Const strided_slice/stack_1:Const strided_slice/stack_2:Const "
            "strided_slice:StridedSlice");
  EXPECT_EQ(made_by([](Graph& g) {
              subscript(x(g), {g.constant(1, int32), kNewAxis, kEllipsis});
            }),
            "Const:Const add/y:Const add:AddV2 strided_slice/stack/1:Const strided_slice/stack/2:Const "
            "strided_slice/stack:Pack strided_slice/stack_1/1:Const strided_slice/stack_1/2:Const "
            "strided_slice/stack_1:Pack strided_slice/stack_2:Const strided_slice:StridedSlice");
  EXPECT_EQ(made_by([](Graph& g) { transpose(x(g)); }), "transpose/perm:Const transpose:Transpose");
  EXPECT_EQ(made_by([](Graph& g) { transpose(x(g, Shape::unknown())); }),
            "transpose/Rank:Rank transpose/sub/y:Const transpose/sub:Sub transpose/Range/start:Const "
            "transpose/Range/delta:Const transpose/Range:Range transpose/sub_1:Sub transpose:Transpose");
  EXPECT_EQ(made_by([](Graph& g) {
              gather(x(g), {1, 2});
            }),
            "GatherV2/indices:Const GatherV2/axis:Const GatherV2:GatherV2");
  EXPECT_EQ(made_by([](Graph& g) { expand_dims(x(g), 0); }), "ExpandDims/dim:Const ExpandDims:ExpandDims");
}

TEST(NodeNames, OfRandomAndControlOperationsAreTensorFlows) {
  EXPECT_EQ(made_by([](Graph& g) {
              random_uniform(g, {2, 3});
            }),
            "random_uniform/shape:Const random_uniform/min:Const random_uniform/max:Const "
            "random_uniform/RandomUniform:RandomUniform random_uniform/sub:Sub random_uniform/mul:Mul "
            "random_uniform:Add");
  EXPECT_EQ(made_by([](Graph& g) { random_uniform(g, {2}, {.maxval = 5, .dtype = int32}); }),
            "random_uniform/shape:Const random_uniform/min:Const random_uniform/max:Const "
            "random_uniform:RandomUniformInt");
  EXPECT_EQ(made_by([](Graph& g) {
              truncated_normal(g, {2, 3});
            }),
            "truncated_normal/shape:Const truncated_normal/mean:Const truncated_normal/stddev:Const "
            "truncated_normal/TruncatedNormal:TruncatedNormal truncated_normal/mul:Mul truncated_normal:Add");
  EXPECT_EQ(made_by([](Graph& g) { multinomial(x(g), 3); }),
            "multinomial/Multinomial/num_samples:Const multinomial/Multinomial:Multinomial");
  EXPECT_EQ(made_by([](Graph& g) {
              assert_true(g.constant(Tensor(true)), {"x", 1});
            }),
            "Const:Const Assert/Const:Const Assert/Const_1:Const Assert/Assert/data_0:Const "
            "Assert/Assert/data_1:Const Assert/Assert:Assert");
}

}  // namespace
}  // namespace weir
