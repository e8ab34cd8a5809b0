#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_same;

Tensor floats(std::initializer_list<float> values, const Shape& shape) { return Tensor::from(values, shape); }

// Both spellings of a variable do the same.
class StateOps : public ::testing::TestWithParam<bool> {
 protected:
  Variable variable(const In& initial_value, const std::string& name = "W") {
    return g.variable(name, initial_value, {.use_resource = GetParam()});
  }
  Tensor value(const Variable& v) { return session.run(v.value()); }
  void initialize() { session.run(g.global_variables_initializer()); }

  Graph g;
  Session session{g};
};
INSTANTIATE_TEST_SUITE_P(Spellings, StateOps, ::testing::Values(false, true),
                         [](const auto& spelling) { return spelling.param ? "Resource" : "Ref"; });

TEST_P(StateOps, AVariableMustBeInitialisedFirst) {
  Variable v = variable({1.f, 2.f});
  Output ready = is_variable_initialized(v);
  EXPECT_FALSE(session.run(ready).scalar<bool>());
  expect_error([&] { value(v); }, Code::FailedPrecondition, "Attempting to use uninitialized value W");
  initialize();
  EXPECT_TRUE(session.run(ready).scalar<bool>());
  expect_same(value(v), floats({1, 2}, {2}));
}

// As in TensorFlow, only a reference to nothing is there from the beginning.
TEST_P(StateOps, AReferenceToNoElementsNeedsNoInitialValue) {
  Variable v = variable(fill(g, {0, 3}, 1.f));
  Output ready = is_variable_initialized(v);
  EXPECT_EQ(session.run(ready).scalar<bool>(), !GetParam());
  if (!GetParam()) {
    EXPECT_EQ(value(v).shape(), (Shape{0, 3}));
  }
  initialize();
  EXPECT_TRUE(session.run(ready).scalar<bool>());
  EXPECT_EQ(value(v).shape(), (Shape{0, 3}));
}

TEST_P(StateOps, AssignmentsGiveTheNewValue) {
  Variable v = variable({1.f, 2.f});
  Output assigned = assign(v, {5.f, 6.f}), added = assign_add(v, {1.f, 1.f}), subtracted = assign_sub(v, {2.f, 4.f});
  initialize();
  expect_same(session.run(added), floats({2, 3}, {2}));
  expect_same(session.run(subtracted), floats({0, -1}, {2}));
  expect_same(session.run(assigned), floats({5, 6}, {2}));
  expect_same(value(v), floats({5, 6}, {2}));
}

TEST_P(StateOps, AFetchedValueIsASnapshot) {
  Variable v = variable({1.f, 2.f});
  Operation added = assign_add(v, {1.f, 1.f}).op();
  initialize();
  Tensor before = value(v);
  session.run(added);
  expect_same(before, floats({1, 2}, {2}));
  expect_same(value(v), floats({2, 3}, {2}));
}

TEST_P(StateOps, ScattersAddUpOverEqualIndices) {
  Variable v = variable({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  Output indices = g.placeholder(int32), updates = g.placeholder(float32);
  Operation add = scatter_add(v, indices, updates).op(), sub = scatter_sub(v, indices, updates).op();
  Operation update = scatter_update(v, indices, updates).op();
  initialize();
  const Tensor rows(std::vector<int32_t>{2, 0, 2});
  const Tensor values = floats({1, 1, 10, 20, 2, 2}, {3, 2});
  session.run(add, {{indices, rows}, {updates, values}});
  expect_same(value(v), floats({11, 22, 3, 4, 8, 9}, {3, 2}));
  session.run(sub, {{indices, rows}, {updates, values}});
  expect_same(value(v), floats({1, 2, 3, 4, 5, 6}, {3, 2}));
  session.run(update, {{indices, Tensor(int32_t{1})}, {updates, floats({7, 8}, {2})}});
  expect_same(value(v), floats({1, 2, 7, 8, 5, 6}, {3, 2}));
  auto bad = [&] {
    session.run(add, {{indices, Tensor(std::vector<int32_t>{0, 3})}, {updates, floats({1, 1, 1, 1}, {2, 2})}});
  };
  expect_error(bad, Code::InvalidArgument, "indices[1] = 3 is not in [0, 3)");
  expect_same(value(v), floats({1, 2, 7, 8, 5, 6}, {3, 2}));
}

TEST_P(StateOps, ScattersCombineWithWhatIsThere) {
  Variable v = variable({{8.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const Tensor rows(std::vector<int32_t>{2, 0, 2});
  auto scatter = [&](const std::string& op, const Tensor& at, const Tensor& updates) {
    NodeBuilder node((v.is_resource() ? "Resource" : "") + op);
    node.input(v.handle()).input(g.constant(at)).input(g.constant(updates));
    if (v.is_resource()) node.attr("dtype", updates.dtype());
    return node.build();
  };
  const Tensor twos = floats({2, 2, 2, 2, 2, 2}, {3, 2});
  Operation mul = scatter("ScatterMul", rows, twos), div = scatter("ScatterDiv", rows, twos);
  Operation min = scatter("ScatterMin", rows, floats({6, 4, 1, 9, 7, 3}, {3, 2}));
  Operation max = scatter("ScatterMax", rows, floats({9, 0, 4, 4, 5, 5}, {3, 2}));
  Operation bad = scatter("ScatterMul", Tensor(std::vector<int32_t>{-1}), floats({1, 1}, {1, 2}));
  initialize();
  session.run(mul);
  expect_same(value(v), floats({16, 4, 3, 4, 20, 24}, {3, 2}));
  session.run(div);
  expect_same(value(v), floats({8, 2, 3, 4, 5, 6}, {3, 2}));
  session.run(min);
  expect_same(value(v), floats({1, 2, 3, 4, 5, 3}, {3, 2}));
  session.run(max);
  expect_same(value(v), floats({4, 4, 3, 4, 9, 5}, {3, 2}));
  expect_error([&] { session.run(bad); }, Code::InvalidArgument, "indices[0] = -1 is not in [0, 3)");
}

TEST_P(StateOps, ScattersTakeAScalarForAllElementsOfTheirRows) {
  Variable v = variable({{8.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  Output indices = g.placeholder(int32), updates = g.placeholder(float32);
  Operation add = scatter_add(v, indices, updates).op(), update = scatter_update(v, indices, updates).op();
  initialize();
  session.run(add, {{indices, Tensor(std::vector<int32_t>{2, 0, 2})}, {updates, Tensor(10.f)}});
  expect_same(value(v), floats({18, 12, 3, 4, 25, 26}, {3, 2}));
  session.run(update, {{indices, Tensor(int32_t{1})}, {updates, Tensor(-1.f)}});
  expect_same(value(v), floats({18, 12, -1, -1, 25, 26}, {3, 2}));
}

TEST_P(StateOps, ScattersOfIntegersAreNotDividedByZero) {
  Variable v = variable({6, 7});
  NodeBuilder node(v.is_resource() ? "ResourceScatterDiv" : "ScatterDiv");
  node.input(v.handle()).input(g.constant(Tensor(std::vector<int32_t>{0}))).input(g.constant({0}, int32));
  if (v.is_resource()) node.attr("dtype", int32);
  Operation div = node.build();
  initialize();
  expect_error([&] { session.run(div); }, Code::InvalidArgument, "division by zero");
}

// Rows long enough for several threads; every row is met many times, and float addition tells orders apart.
TEST_P(StateOps, ScattersOfLongRowsAddUpInOrder) {
  constexpr int64_t kRows = 13, kColumns = 100, kCount = 400;
  Tensor at(int32, {kCount}), updates(float32, {kCount, kColumns}),
      expected = Tensor::zeros(float32, {kRows, kColumns});
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t row = i * i % kRows;
    at.mutable_data<int32_t>()[i] = static_cast<int32_t>(row);
    for (int64_t j = 0; j < kColumns; ++j) {
      const float update = 1.0f / static_cast<float>(1 + i * 7 % 101 + j);
      updates.mutable_data<float>()[i * kColumns + j] = update;
      expected.mutable_data<float>()[row * kColumns + j] += update;
    }
  }
  Variable v = variable(Tensor::zeros(float32, {kRows, kColumns}));
  Operation add = scatter_add(v, at, updates).op();
  for (int threads : {1, 2, 4}) {
    Session own(g, {.intra_op_parallelism_threads = threads});
    own.run(g.global_variables_initializer());
    own.run(add);
    expect_same(own.run(v.value()), expected);
  }
}

TEST_P(StateOps, RejectsShapesThatDoNotFitWhenTheyAreKnownLate) {
  Variable v = variable({1.f, 2.f});
  Output x = g.placeholder(float32);
  Operation assigned = assign(v, x).op(), added = assign_add(v, x).op();
  initialize();
  const Tensor three = floats({1, 2, 3}, {3});
  expect_error([&] { session.run(assigned, {{x, three}}); }, Code::InvalidArgument, "[3]");
  expect_error([&] { session.run(added, {{x, three}}); }, Code::InvalidArgument, "[3]");
  expect_same(value(v), floats({1, 2}, {2}));
}

TEST_P(StateOps, WorksInEveryNumberType) {
  for (DType dtype : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                      complex64, complex128}) {
    SCOPED_TRACE(dtype_name(dtype));
    Graph own;
    Variable v = own.variable("v", {3, 4}, {.dtype = dtype, .use_resource = GetParam()});
    Output sum = assign_add(v, {1, 2});
    Session runner(own);
    runner.run(own.global_variables_initializer());
    expect_same(runner.run(sum), testing::converted(Tensor(std::vector<double>{4, 6}), dtype));
  }
}

TEST(RefIdentity, PassesTheReferenceOn) {
  Graph g;
  Variable v = g.variable("v", 7.f);
  Output ref = NodeBuilder("RefIdentity").input(v.handle()).output();
  EXPECT_TRUE(ref.is_ref());
  Operation write = NodeBuilder("Assign").input(ref).input(g.constant(9.f)).build();
  Session session(g);
  session.run(write);
  EXPECT_EQ(session.run(ref).scalar<float>(), 9.f);
}

TEST(Assign, ChangesTheShapeWhenAskedTo) {
  Graph g;
  Output x = g.placeholder(float32);
  Variable v = g.variable("v", x, {.validate_shape = false});
  Output assigned = assign(v, x, {.validate_shape = false});
  Session session(g);
  session.run(v.initializer(), {{x, floats({1, 2}, {2})}});
  expect_same(session.run(assigned, {{x, floats({1, 2, 3, 4}, {2, 2})}}), floats({1, 2, 3, 4}, {2, 2}));
  expect_same(session.run(v.value()), floats({1, 2, 3, 4}, {2, 2}));
}

TEST(Assign, RejectsAnotherShapeWhenTheGraphIsBuilt) {
  Graph g;
  Variable v = g.variable("v", {1.f, 2.f});
  expect_error([&] { assign(v, {1.f, 2.f, 3.f}); }, Code::InvalidArgument, "[3]");
}

TEST(CountUpTo, EndsWithOutOfRange) {
  Graph g;
  Variable v = g.variable("v", 0);
  Output count = count_up_to(v, 2);
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(count).scalar<int32_t>(), 0);
  EXPECT_EQ(session.run(count).scalar<int32_t>(), 1);
  expect_error([&] { session.run(count); }, Code::OutOfRange, "Reached limit of 2");
  EXPECT_EQ(session.run(v.value()).scalar<int32_t>(), 2);
}

TEST(DestroyResourceOp, LeavesTheVariableUninitialised) {
  Graph g;
  Variable v = g.variable("v", 1.f, {.use_resource = true});
  Operation destroy = NodeBuilder("DestroyResourceOp").input(v.handle()).build();
  Output sizes = NodeBuilder("VariableShape").input(v.handle()).output();
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(sizes).elements(), 0);
  session.run(destroy);
  expect_error([&] { session.run(v.value()); }, Code::FailedPrecondition, "uninitialized value v");
}

// Two steps that write the same variable in one run happen in the order that the graph asks for.
TEST(ControlDependencies, OrderWritesAndReads) {
  Graph g;
  Variable v = g.variable("v", 1.f);
  Operation doubled = assign(v, v * 2.f).op();
  Output after;
  {
    Scope scope = g.control_dependencies({doubled});
    after = read_variable(v);
  }
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(after).scalar<float>(), 2);
  EXPECT_EQ(session.run(after).scalar<float>(), 4);
}

}  // namespace
}  // namespace weir
