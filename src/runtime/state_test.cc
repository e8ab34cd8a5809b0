// State that sessions share, and variables that several runs use at once.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/resource_manager.h"
#include "ops/state/variable_state.h"
#include "runtime/plan.h"
#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/optimizers.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

float value_of(Session& session, const Output& output) { return session.run(output).scalar<float>(); }

Output shared_variable(Graph& g, std::string_view name, const std::string& shared_name,
                       const std::string& container = "", const Shape& shape = {}, DType dtype = float32) {
  return g
      .add({.op = "VariableV2",
            .name = std::string(name),
            .attrs = {{"shape", shape}, {"dtype", dtype}, {"shared_name", shared_name}, {"container", container}}})
      .output(0);
}
Output assign_to(const Output& ref, const In& value) { return NodeBuilder("Assign").input(ref).input(value).output(); }

TEST(SharedState, IsSeenByEverySessionOnTheSameResources) {
  auto resources = std::make_shared<Resources>();
  Graph one, two;
  Variable a = one.variable("w", one.constant(1.f)), b = two.variable("w", two.constant(2.f));
  Session first(one, {.resources = resources}), second(two, {.resources = resources}), alone(two);
  first.run(one.global_variables_initializer());
  EXPECT_EQ(value_of(second, b.value()), 1);
  second.run(assign_add(b, 5.f));
  EXPECT_EQ(value_of(first, a.value()), 6);
  expect_error([&] { alone.run(b.value()); }, Code::FailedPrecondition, "uninitialized value w");
}

TEST(SharedState, OutlivesItsSessionsAndGraphs) {
  auto resources = std::make_shared<Resources>();
  {
    Graph g;
    g.variable("w", g.constant(3.f));
    Session session(g, {.resources = resources});
    session.run(g.global_variables_initializer());
  }
  Graph g;
  Variable w = g.variable("w", g.constant(0.f));
  Session session(g, {.resources = resources});
  EXPECT_EQ(value_of(session, w.value()), 3);
}

TEST(SharedState, LeavesRandomStreamsToEachSession) {
  auto resources = std::make_shared<Resources>();
  Graph one, two;
  Output a = random_uniform(one, {4}, {.seed = 7}), b = random_uniform(two, {4}, {.seed = 7});
  Session first(one, {.resources = resources}), second(two, {.resources = resources});
  expect_same(first.run(a), second.run(b));
}

TEST(SharedState, IsNamedBySharedNameAndContainer) {
  Graph g;
  Output a = shared_variable(g, "a", "x"), b = shared_variable(g, "b", "x"), c = shared_variable(g, "c", "x", "box");
  Session session(g);
  session.run(assign_to(a, 4.f));
  EXPECT_EQ(value_of(session, b), 4);
  expect_error([&] { session.run(c); }, Code::FailedPrecondition, "uninitialized");
  expect_error([&] { session.run(shared_variable(g, "d", "_x")); }, Code::InvalidArgument,
               "shared_name cannot start with '_'");
  expect_error([&] { session.run(shared_variable(g, "e", "x", "a_b")); }, Code::InvalidArgument,
               "container contains invalid characters: a_b");
}

TEST(SharedState, RefusesOtherTypesAndShapesAsTensorFlowDoes) {
  Graph g;
  Output a = shared_variable(g, "a", "x", "", {2}), b = shared_variable(g, "b", "x", "", {3});
  Output c = shared_variable(g, "c", "x", "", {2}, int32);
  Session session(g);
  session.run(assign_to(a, {1.f, 2.f}));
  expect_error([&] { session.run(assign_to(b, {1.f, 2.f, 3.f})); }, Code::InvalidArgument, "shape [2]");
  expect_error([&] { session.run(c); }, Code::Internal,
               "Output 0 of type float_ref does not match declared output type int32_ref");
  auto handle = [&](DType dtype) {
    return g
        .add({.op = "VarHandleOp", .attrs = {{"shape", Shape{2}}, {"dtype", dtype}, {"shared_name", std::string("h")}}})
        .output(0);
  };
  Output floats = handle(float32), ints = handle(int32);
  session.run(NodeBuilder("AssignVariableOp").input(floats).input(g.constant({1, 2}, float32)).build());
  expect_error([&] { session.run(NodeBuilder("ReadVariableOp").input(ints).attr("dtype", int32).output()); },
               Code::InvalidArgument, "Trying to read variable with wrong dtype. Expected int32 got float");
  expect_error(
      [&] {
        session.run(NodeBuilder("AssignVariableOp").input(ints).input(g.constant({1, 2}, int32)).build());
      },
      Code::InvalidArgument, "Trying to assign variable with wrong dtype. Expected float got int32");
}

TEST(Container, IsSetOnOperationsWithState) {
  Graph g;
  Output outside = g.variable("a", g.constant(1.f)).handle(), inside, nested, own;
  {
    auto box = g.container("box");
    inside = g.variable("b", g.constant(1.f)).handle();
    auto crate = g.container("crate");
    nested = g.variable("c", g.constant(1.f)).handle();
    own = shared_variable(g, "d", "", "mine");
  }
  auto container = [](const Output& o) { return o.op().attrs().get<std::string>("container"); };
  EXPECT_EQ(container(outside), "");
  EXPECT_EQ(container(inside), "box");
  EXPECT_EQ(container(nested), "crate");
  EXPECT_EQ(container(own), "mine");
  EXPECT_EQ(container(g.variable("e", g.constant(1.f)).handle()), "");
}

TEST(Reset, EmptiesContainersAndClosesTheSession) {
  auto resources = std::make_shared<Resources>();
  Graph g;
  Variable a = g.variable("a", g.constant(1.f));
  auto box = g.container("box");
  Variable b = g.variable("b", g.constant(2.f));
  Session first(g, {.resources = resources}), second(g, {.resources = resources});
  first.run(g.global_variables_initializer());
  EXPECT_EQ(value_of(second, a.value()), 1);
  first.reset();
  expect_error([&] { first.run(a.value()); }, Code::Cancelled, "closed");
  expect_error([&] { second.run(a.value()); }, Code::FailedPrecondition, "uninitialized value a");
  EXPECT_EQ(value_of(second, b.value()), 2);
  resources->reset({"box"});
  expect_error([&] { second.run(b.value()); }, Code::FailedPrecondition, "uninitialized value b");
  second.run(g.global_variables_initializer());
  EXPECT_EQ(value_of(second, b.value()), 2);
}

TEST(Close, FreesWhatTheSessionAloneUses) {
  Graph g;
  Variable w = g.variable("w", zeros(g, {100}, float32));
  Session session(g);
  session.run(g.global_variables_initializer());
  Session::Callable call = session.make_callable({.fetches = {tanh(w.value())}});
  call();
  const Tensor fetched = session.run(w.value());
  EXPECT_FALSE(fetched.buffer()->unique());  // the variable is in the same memory
  session.close();
  EXPECT_TRUE(fetched.buffer()->unique());
}

TEST(DestroyResource, LeavesNoValue) {
  Graph g;
  Variable v = g.variable("v", g.constant(1.f), {.use_resource = true});
  Operation destroy = NodeBuilder("DestroyResourceOp").input(v.handle()).build();
  Operation strict = NodeBuilder("DestroyResourceOp").input(v.handle()).attr("ignore_lookup_error", false).build();
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_TRUE(session.run(is_variable_initialized(v)).scalar<bool>());
  session.run(strict);
  EXPECT_FALSE(session.run(is_variable_initialized(v)).scalar<bool>());
  expect_error([&] { session.run(strict); }, Code::NotFound, "variable 'v' does not exist");
  session.run(destroy);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(value_of(session, v.value()), 1);
}

TEST(DestroyResource, KeepsWhatTheSameRunAssignsAfterwards) {
  Graph g;
  Variable v = g.variable("v", g.constant(1.f), {.use_resource = true});
  Operation destroy = NodeBuilder("DestroyResourceOp").input(v.handle()).build();
  Output assigned;
  {
    Scope after = g.control_dependencies({destroy});
    assigned = assign(v, 2.f);
  }
  auto resources = std::make_shared<Resources>();
  Session session(g, {.resources = resources}), other(g, {.resources = resources});
  session.run(g.global_variables_initializer());
  EXPECT_EQ(value_of(session, assigned), 2);
  EXPECT_EQ(value_of(session, v.value()), 2);
  EXPECT_EQ(value_of(other, v.value()), 2);
}

TEST(DestroyResource, TakesAQueueOut) {
  Graph g;
  Output queue = NodeBuilder("FIFOQueueV2").graph(g).attr("component_types", std::vector<DType>{float32}).output();
  Output size = NodeBuilder("QueueSizeV2").input(queue).output();
  Operation destroy = NodeBuilder("DestroyResourceOp").input(queue).attr("ignore_lookup_error", false).build();
  auto resources = std::make_shared<Resources>();
  Session session(g, {.resources = resources});
  EXPECT_EQ(session.run(size).scalar<int32_t>(), 0);
  EXPECT_EQ(resources->manager()->size(), 1u);
  session.run(destroy);
  EXPECT_EQ(resources->manager()->size(), 0u);
}

TEST(LockedUpdates, OfManyThreadsAreNeverLost) {
  Graph g;
  Variable w = g.variable("w", zeros(g, {512, 512}));
  std::vector<Output> adds;
  for (int i = 0; i < 8; ++i) adds.push_back(assign_add(w, ones(g, {512, 512}), {}, {.use_locking = true}));
  Session session(g);
  session.run(g.global_variables_initializer());
  std::vector<std::thread> threads;
  for (const Output& add : adds) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) session.run(add.op());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Tensor value = session.run(w);
  for (float element : value.data<float>()) ASSERT_EQ(element, 80);
}

TEST(TemporaryVariable, BelongsToOneRun) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output ref = NodeBuilder("TemporaryVariable")
                   .graph(g)
                   .attr("shape", Shape{2})
                   .attr("dtype", float32)
                   .attr("var_name", std::string("t"))
                   .output();
  Output set = NodeBuilder("Assign").input(ref).input(x).output();
  Output twice = NodeBuilder("AssignAdd").input(set).input(x).output();
  Output last = NodeBuilder("DestroyTemporaryVariable").input(twice).attr("var_name", std::string("t")).output();
  auto resources = std::make_shared<Resources>();
  Session session(g, {.resources = resources});
  for (float i : {1.f, 2.f}) {
    expect_same(session.run(last, {{x, Tensor(std::vector<float>{i, 3})}}), Tensor(std::vector<float>{2 * i, 6}));
  }
  EXPECT_EQ(resources->manager()->size(), 0u);
}

// The rest is about variables that several runs use.

// How many reads of the plan for `fetches` and `targets` are live, and how many snapshots.
struct Reads {
  int live = 0, snapshots = 0;
  bool operator==(const Reads&) const = default;
};

class LiveReads : public ::testing::Test {
 protected:
  Reads reads(const std::vector<Output>& fetches, const std::vector<Operation>& targets = {}) {
    const PlanEnvironment environment{
        .devices = devices, .lanes = *lanes, .resources = resources, .arenas = arenas, .options = {}};
    Plan plan(PlanRequest{fetches, {}, {}, targets}, environment);
    Reads count;
    for (const Step& step : plan.steps()) {
      if (step.op->role == Role::Read) ++(step.attrs.find("_live") ? count.live : count.snapshots);
    }
    return count;
  }
  // A read that waits for something belongs to that moment, whoever uses it later.
  Output read_at_a_moment(const Variable& variable) {
    auto after = g.control_dependencies({NodeBuilder("NoOp").graph(g).build()});
    return read_variable(variable);
  }
  Graph g;
  DeviceSet devices{SessionOptions{}};
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  SessionResources resources{std::make_shared<ResourceManager>()};
  ArenaPool arenas{devices, 0};
  Variable w = g.variable("w", g.constant({1, 2}, float32));
};

TEST_F(LiveReads, AreThoseThatAreUsedUpInTheRun) {
  EXPECT_EQ(reads({tanh(w.value())}), (Reads{1, 0}));
  EXPECT_EQ(reads({w.value()}), (Reads{0, 1}));
  EXPECT_EQ(reads({reshape(w.value(), {2, 1})}), (Reads{0, 1}));
}

TEST_F(LiveReads, AreOverBeforeTheRunWrites) {
  Output grad = w.value() * 2.f;
  Operation train = assign_sub(w, grad).op();
  EXPECT_EQ(reads({}, {train}), (Reads{1, 0}));
}

TEST_F(LiveReads, AreNoneOfValuesThatTheRunNeedsAfterItsWrite) {
  Output old = read_at_a_moment(w);
  auto after_old = g.control_dependencies({old.op()});
  Output written = assign_add(w, {1.f, 1.f});
  auto after_write = g.control_dependencies({written.op()});
  Output sum = tanh(old) + sigmoid(read_variable(w));
  EXPECT_EQ(reads({sum}), (Reads{1, 1}));
}

// The slots of an optimizer are written too, though they are not its first input.
TEST_F(LiveReads, AreNoneOfSlotsThatAnUpdateWritesMeanwhile) {
  Variable accum = g.variable("accum", g.constant({1, 1}, float32));
  Output old = read_at_a_moment(accum);
  auto after_old = g.control_dependencies({old.op()});
  Operation train = NodeBuilder("ApplyAdagrad")
                        .input(w.handle())
                        .input(accum.handle())
                        .input(0.1f)
                        .input(g.constant({1, 1}, float32))
                        .build();
  EXPECT_EQ(reads({tanh(old)}, {train}), (Reads{1, 0}));
  Output late = g.add({.op = "Tanh", .inputs = {old}, .control_inputs = {train}}).output(0);
  EXPECT_EQ(reads({late}), (Reads{0, 1}));
}

// Who uses the plain value after a write gets what was written, as in TensorFlow, where both share their memory.
TEST_F(LiveReads, ArePlainValuesThatAreUsedAfterAWrite) {
  Output old = w.value(), early = old * 10.f;
  Operation written = assign_add(w, {1.f, 1.f}).op();
  Output late;
  {
    auto after = g.control_dependencies({written, early.op()});
    late = negative(old);
  }
  Session session(g);
  session.run(g.global_variables_initializer());
  auto values = session.run({early, late});
  expect_same(values[0], Tensor(std::vector<float>{10, 20}));
  expect_same(values[1], Tensor(std::vector<float>{-2, -3}));
}

TEST_F(LiveReads, AreNoneWhereTheWriterReadsTheValueItself) {
  EXPECT_EQ(reads({}, {assign_add(w, w.value()).op()}), (Reads{0, 1}));
}

TEST_F(LiveReads, AreNoneOfVariablesThatTwoNodesName) {
  Output a = shared_variable(g, "a", "x", "", {2}), b = shared_variable(g, "b", "x", "", {2});
  Output sum = tanh(a) + tanh(b);
  EXPECT_EQ(reads({sum}), (Reads{0, 2}));
}

// A table is read and written by rows while somebody holds it live: it stays where it is.
TEST(Hogwild, WritesRowsInPlaceWhileOtherRunsRead) {
  Graph g;
  Variable table = g.variable("table", zeros(g, {100, 4}, float32));
  Output ids = g.placeholder(int32, {kUnknown});
  Output train = scatter_add(table, ids, ones_like(gather(table.value(), ids)));
  auto resources = std::make_shared<Resources>();
  Session session(g, {.resources = resources});
  session.run(g.global_variables_initializer());
  auto state = resources->manager()->find<VariableState>("", "table");
  const Tensor live = state->read_live();
  for (int i = 0; i < 3; ++i) session.run(train.op(), {{ids, Tensor(std::vector<int32_t>{5, 7, 5})}});
  EXPECT_EQ(live.data<float>()[5 * 4], 6);
  EXPECT_EQ(live.data<float>()[7 * 4], 3);
  EXPECT_EQ(state->read_live().raw(), live.raw());
}

TEST(Hogwild, FetchedVariablesDoNotChangeUnderTheCaller) {
  Graph g;
  Variable w = g.variable("w", zeros(g, {1000}, float32));
  Operation train = assign_add(w, ones(g, {1000}, float32)).op();
  Session session(g);
  session.run(g.global_variables_initializer());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) session.run(train);
    });
  }
  for (int i = 0; i < 200; ++i) {
    const Tensor fetched = session.run(w.value());
    const Tensor copy = fetched.copy();
    std::this_thread::yield();
    expect_same(fetched, copy);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Hogwild, LockedUpdatesAreAllCounted) {
  constexpr int kThreads = 4, kUpdates = 300;
  for (bool rows : {false, true}) {
    Graph g;
    Variable w = g.variable("w", zeros(g, {64, 8}, float32));
    Output by = rows ? ones(g, {2, 8}, float32) : ones(g, {64, 8}, float32);
    NodeBuilder builder(rows ? "ScatterAdd" : "AssignAdd");
    builder.input(w.handle());
    if (rows) builder.input(g.constant({3, 60}, int32));
    Operation train = builder.input(by).attr("use_locking", true).build();
    Output read = tanh(w.value());  // live, in every thread
    Session session(g);
    session.run(g.global_variables_initializer());
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kUpdates; ++i) {
          session.run(train);
          session.run(read);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const Tensor result = session.run(w.value());
    EXPECT_EQ(result.data<float>()[3 * 8], kThreads * kUpdates);
    EXPECT_EQ(result.data<float>()[60 * 8 + 7], kThreads * kUpdates);
  }
}

}  // namespace
}  // namespace weir::testing
