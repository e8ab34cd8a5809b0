#include <gtest/gtest.h>

#include <google/protobuf/text_format.h>

#include "graph/functions.h"
#include "graph/graph_def.h"
#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::expect_error;

// A function of two floats.
FunctionName binary_function(Graph& g, std::string_view name, const std::function<Output(Output, Output)>& f) {
  const FunctionArgument floats[] = {{float32, Shape::unknown()}, {float32, Shape::unknown()}};
  auto make = [&](const std::vector<Output>& args) { return std::vector<Output>{f(args[0], args[1])}; };
  return {trace_function(g, name, floats, make).name, {}};
}

Operation call(Graph& g, std::string op, std::vector<Output> inputs, const FunctionName& f,
               std::vector<DType> types = {float32}) {
  return g.add({.op = std::move(op), .inputs = std::move(inputs), .attrs = {{"Tout", std::move(types)}, {"f", f}}});
}

std::vector<float> floats_of(const Tensor& t) {
  auto data = t.data<float>();
  return {data.begin(), data.end()};
}
using Floats = std::vector<float>;

TEST(PartitionedCall, RunsAFunctionOfTheGraphAsOftenAsItIsCalled) {
  Graph g;
  const FunctionName f = binary_function(g, "f", [](Output a, Output b) { return a * b + a; });
  const Output x = g.placeholder(float32, {kUnknown});
  const Output once = call(g, "PartitionedCall", {x, x}, f).output();
  const Output twice = call(g, "StatefulPartitionedCall", {once, x}, f).output();
  EXPECT_FALSE(once.shape().has_rank());
  Session session(g);
  EXPECT_EQ(floats_of(session.run(once, {{x, Floats{1, 2}}})), (Floats{2, 6}));
  EXPECT_EQ(floats_of(session.run(twice, {{x, Floats{1, 2, 3}}})), (Floats{4, 18, 48}));
}

TEST(PartitionedCall, TakesHandlesOfVariables) {
  Graph g;
  Variable w = g.variable("w", 3.0f, {.use_resource = true});
  const FunctionArgument arguments[] = {{DType::Resource, Shape{}}, {float32, Shape{}}};
  auto make = [&](const std::vector<Output>& args) {
    Operation add = g.add({.op = "AssignAddVariableOp", .inputs = {args[0], args[1]}});
    return std::vector<Output>{
        g.add({.op = "ReadVariableOp", .inputs = {args[0]}, .attrs = {{"dtype", float32}}, .control_inputs = {add}})
            .output()};
  };
  const FunctionName f{trace_function(g, "add_to", arguments, make).name, {}};
  const Output added = call(g, "StatefulPartitionedCall", {w.handle(), g.constant(Tensor(2.0f))}, f).output();
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(added).scalar<float>(), 5.0f);
  EXPECT_EQ(session.run(added).scalar<float>(), 7.0f);
  EXPECT_EQ(session.run(w).scalar<float>(), 7.0f);
}

TEST(PartitionedCall, KeepsWhereRandomOperationsStandFromCallToCall) {
  Graph g;
  auto make = [&](const std::vector<Output>&) { return std::vector<Output>{random_uniform(g, {4}, {.seed = 5})}; };
  const FunctionName f{trace_function(g, "draw", {}, make).name, {}};
  const Output drawn = call(g, "StatefulPartitionedCall", {}, f).output();
  const Output plain = random_uniform(g, {4}, {.seed = 5});
  Session session(g);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(floats_of(session.run(drawn)), floats_of(session.run(plain))) << i;
}

TEST(PartitionedCall, SaysWhatIsWrongWithACall) {
  Graph g;
  const FunctionName f = binary_function(g, "f", [](Output a, Output b) { return a * b; });
  const Output x = g.constant(Tensor(2.0f)), n = g.constant(Tensor(int32_t{2}));
  Session session(g);
  auto run = [&](const Operation& op) { return [&session, op] { session.run(op.output()); }; };
  expect_error(run(call(g, "PartitionedCall", {x}, f)), Code::InvalidArgument, "takes 2 arguments");
  expect_error(run(call(g, "PartitionedCall", {x, n}, f)), Code::InvalidArgument, "argument 1 of the function");
  expect_error(run(call(g, "PartitionedCall", {x, x}, f, {int32})), Code::InvalidArgument, "int32 is wanted");
  expect_error(run(call(g, "PartitionedCall", {x, x}, f, {float32, float32})), Code::InvalidArgument, "2 outputs");
  expect_error(run(call(g, "PartitionedCall", {x, x}, {"g", {}})), Code::NotFound, "Function g is not defined.");
  const FunctionName fails = binary_function(g, "fails", [](Output a, Output b) { return matmul(a, b); });
  expect_error(run(call(g, "PartitionedCall", {x, x}, fails)), Code::InvalidArgument, "MatMul");
}

TEST(PartitionedCall, HasTheGradientOfItsFunction) {
  Graph g;
  const FunctionName f = binary_function(g, "f", [](Output a, Output b) { return a * a * b; });
  const Output x = g.placeholder(float32, {kUnknown}), y = g.placeholder(float32, {kUnknown});
  const Output z = call(g, "PartitionedCall", {x, y}, f).output();
  const std::vector<Gradient> grads = gradients({z}, {x, y});
  EXPECT_EQ(grads[0].dense().op().type(), "SymbolicGradient");
  Session session(g);
  const auto values = session.run({grads[0].dense(), grads[1].dense()}, {{x, Floats{1, 2}}, {y, Floats{3, 5}}});
  EXPECT_EQ(floats_of(values[0]), (Floats{6, 20}));
  EXPECT_EQ(floats_of(values[1]), (Floats{1, 4}));
}

TEST(PartitionedCall, HasGradientsForVariablesBehindHandles) {
  Graph g;
  Variable w = g.variable("w", 3.0f, {.use_resource = true});
  const FunctionArgument arguments[] = {{DType::Resource, Shape{}}, {float32, Shape{}}};
  auto make = [&](const std::vector<Output>& args) {
    const Output value = g.add({.op = "ReadVariableOp", .inputs = {args[0]}, .attrs = {{"dtype", float32}}}).output();
    return std::vector<Output>{square(value) * args[1]};
  };
  const FunctionName f{trace_function(g, "f", arguments, make).name, {}};
  const Output x = g.constant(Tensor(2.0f));
  const Output y = call(g, "StatefulPartitionedCall", {w.handle(), x}, f).output();
  const std::vector<Gradient> grads = gradients({y}, {w.handle(), x});
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(grads[0].dense()).scalar<float>(), 12.0f);
  EXPECT_EQ(session.run(grads[1].dense()).scalar<float>(), 9.0f);
}

TEST(SymbolicGradient, DifferentiatesBranchesLoopsAndInnerCalls) {
  Graph g;
  const FunctionName inner = binary_function(g, "inner", [](Output a, Output b) { return a * b; });
  const FunctionName f = binary_function(g, "f", [&](Output a, Output b) {
    const Output product = call(g, "PartitionedCall", {a, b}, inner).output();
    return cond(
        greater(b, Output(g.constant(Tensor(0.0f)))), [&] { return square(product); }, [&] { return product; });
  });
  const Output x = g.placeholder(float32, Shape{}), y = g.placeholder(float32, Shape{}), one = g.constant(Tensor(1.0f));
  const Operation gradient = call(g, "SymbolicGradient", {x, y, one}, f, {float32, float32});
  EXPECT_EQ(gradient.output(0).shape(), Shape{});
  Session session(g);
  auto positive = session.run({gradient.output(0), gradient.output(1)}, {{x, Tensor(2.0f)}, {y, Tensor(3.0f)}});
  EXPECT_EQ(positive[0].scalar<float>(), 36.0f);
  EXPECT_EQ(positive[1].scalar<float>(), 24.0f);
  auto negative = session.run({gradient.output(0), gradient.output(1)}, {{x, Tensor(2.0f)}, {y, Tensor(-3.0f)}});
  EXPECT_EQ(negative[0].scalar<float>(), -3.0f);
  EXPECT_EQ(negative[1].scalar<float>(), 2.0f);
}

TEST(SymbolicGradient, GivesZerosWhereNothingDepends) {
  Graph g;
  const FunctionName f = binary_function(g, "f", [](Output a, Output) { return a + a; });
  const Output x = g.constant(Tensor(Floats{1, 2})), one = g.constant(Tensor(Floats{1, 1}));
  const Operation gradient = call(g, "SymbolicGradient", {x, x, one}, f, {float32, float32});
  Session session(g);
  EXPECT_EQ(floats_of(session.run(gradient.output(0))), (Floats{2, 2}));
  EXPECT_EQ(floats_of(session.run(gradient.output(1))), (Floats{0, 0}));
  expect_error(
      [&] {
        call(g, "SymbolicGradient", {x}, f, {float32, float32});
      },
      Code::InvalidArgument, "len(inputs) < len(outputs)");
}

TEST(Case, RunsTheBranchOfItsIndexAndTheLastForOthers) {
  Graph g;
  const std::vector<FunctionName> branches = {binary_function(g, "add", [](Output a, Output b) { return a + b; }),
                                              binary_function(g, "mul", [](Output a, Output b) { return a * b; }),
                                              binary_function(g, "sub", [](Output a, Output b) { return a - b; })};
  const Output index = g.placeholder(int32, Shape{}), x = g.constant(Tensor(5.0f)), y = g.constant(Tensor(2.0f));
  const Output chosen = g.add({.op = "Case",
                               .inputs = {index, x, y},
                               .attrs = {{"Tout", std::vector<DType>{float32}},
                                         {"branches", branches},
                                         {"output_shapes", std::vector<Shape>{Shape{}}}}})
                            .output();
  EXPECT_EQ(chosen.shape(), Shape{});
  const std::vector<Gradient> grads = gradients({chosen}, {x, y});
  Session session(g);
  auto run = [&](int32_t i) {
    auto all = session.run({chosen, grads[0].dense(), grads[1].dense()}, {{index, Tensor(i)}});
    return Floats{all[0].scalar<float>(), all[1].scalar<float>(), all[2].scalar<float>()};
  };
  EXPECT_EQ(run(0), (Floats{7, 1, 1}));
  EXPECT_EQ(run(1), (Floats{10, 2, 5}));
  for (int32_t i : {2, 3, -1}) EXPECT_EQ(run(i), (Floats{3, 1, -1})) << i;
}

TEST(RemoteCall, RunsItsFunctionHere) {
  Graph g;
  const FunctionName f = binary_function(g, "f", [](Output a, Output b) { return a - b; });
  const Output x = g.constant(Tensor(5.0f)), y = g.constant(Tensor(2.0f));
  const Output target = g.constant(Tensor(std::string("/job:localhost/replica:0/task:0/device:CPU:0")));
  Session session(g);
  EXPECT_EQ(session.run(call(g, "RemoteCall", {target, x, y}, f).output()).scalar<float>(), 3.0f);
}

TEST(MapDefun, CallsItsFunctionWithEveryRow) {
  Graph g;
  const FunctionName f = binary_function(g, "f", [](Output row, Output b) { return row * b; });
  const Output rows = g.constant(Tensor(Floats{1, 2, 3, 4, 5, 6})), b = g.constant(Tensor(10.0f));
  auto map = [&](const Output& argument, Shape row) {
    return g
        .add({.op = "MapDefun",
              .inputs = {argument, b},
              .attrs = {{"Targuments", std::vector<DType>{float32}},
                        {"Tcaptured", std::vector<DType>{float32}},
                        {"output_types", std::vector<DType>{float32}},
                        {"output_shapes", std::vector<Shape>{row}},
                        {"f", f}}})
        .output();
  };
  Session session(g);
  const Output matrix = map(reshape(rows, {2, 3}), {3});
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(floats_of(session.run(matrix)), (Floats{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(session.run(map(reshape(g.constant(Tensor(Floats{})), {0, 3}), {3})).shape(), (Shape{0, 3}));
  expect_error([&] { session.run(map(reshape(rows, {2, 3}), {4})); }, Code::InvalidArgument, "shape");
}

// A function of the library that nothing used when the graph was imported can still be called.
TEST(PartitionedCall, FindsFunctionsOfTheLibrary) {
  const char* text = R"(
    library {
      function {
        signature { name: "twice" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
        node_def { name: "add" op: "Add" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "y" value: "add:z:0" }
      }
    })";
  proto::GraphDef message;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  Graph g;
  import_graph(g, message, {});
  const Output x = g.constant(Tensor(4.0f));
  const Output y = call(g, "PartitionedCall", {x}, {"twice", {}}).output();
  Session session(g);
  EXPECT_EQ(session.run(y).scalar<float>(), 8.0f);
  EXPECT_EQ(session.run(gradients({y}, {x})[0].dense()).scalar<float>(), 2.0f);
}

// The gradient that a library gives of a function is used instead of one that is worked out.
TEST(SymbolicGradient, UsesTheGradientOfTheLibrary) {
  const char* text = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node {
      name: "g" op: "SymbolicGradient" input: "x" input: "x"
      attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } }
      attr { key: "Tout" value { list { type: DT_FLOAT } } }
      attr { key: "f" value { func { name: "twice" } } }
    }
    library {
      function {
        signature { name: "twice" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
        node_def { name: "add" op: "Add" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "y" value: "add:z:0" }
      }
      function {
        signature {
          name: "own" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "dy" type: DT_FLOAT }
          output_arg { name: "dx" type: DT_FLOAT }
        }
        node_def { name: "mul" op: "Mul" input: "x" input: "dy" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "dx" value: "mul:z:0" }
      }
      GRADIENTS
    })";
  for (const bool has_own : {false, true}) {
    std::string with(text);
    with.replace(with.find("GRADIENTS"), 9,
                 has_own ? R"(gradient { function_name: "twice" gradient_func: "own" })" : "");
    proto::GraphDef message;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(with, &message));
    Graph g;
    import_graph(g, message, {});
    Session session(g);
    const Tensor got = session.run(g.find("g").output(), {{g.find("x").output(), Tensor(3.0f)}});
    EXPECT_EQ(got.scalar<float>(), has_own ? 9.0f : 6.0f);
  }
}

}  // namespace
}  // namespace weir
