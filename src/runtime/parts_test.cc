// Plans that run on several devices.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "weir/control_flow.h"
#include "weir/weir.h"

namespace weir {
namespace {

struct Machine {
  const char* name;
  const char* devices[2];
  SessionOptions options;
};

SessionOptions logical_cpus(int count) { return {.intra_op_parallelism_threads = 2, .device_count = {{"CPU", count}}}; }
SessionOptions virtual_gpus(int count) {
  return {.intra_op_parallelism_threads = 2, .virtual_gpus = {.count = count, .memory_limit = 64 << 20}};
}

std::vector<Machine> machines() {
  return {{"one CPU", {"/cpu:0", "/cpu:0"}, logical_cpus(1)},
          {"two logical CPUs", {"/cpu:0", "/cpu:1"}, logical_cpus(2)},
          {"the second logical CPU alone", {"/cpu:1", "/cpu:1"}, logical_cpus(2)},
          {"one virtual GPU", {"/gpu:0", "/gpu:0"}, virtual_gpus(1)},
          {"two virtual GPUs", {"/gpu:0", "/gpu:1"}, virtual_gpus(2)},
          {"a CPU and a GPU", {"/cpu:0", "/gpu:0"}, virtual_gpus(1)}};
}

Tensor numbers(const Shape& shape, float scale = 1) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) {
    t.mutable_data<float>()[i] = scale * static_cast<float>((i * 37 + 11) % 101 - 50) / 50;
  }
  return t;
}

void expect_near(const std::vector<Tensor>& a, const std::vector<Tensor>& b, const char* where) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << where;
    for (int64_t at = 0; at < a[i].elements(); ++at) {
      ASSERT_NEAR(a[i].data<float>()[at], b[i].data<float>()[at], 1e-6) << where << ", fetch " << i << ", " << at;
    }
  }
}

void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b, const char* where) {
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::memcmp(a[i].raw(), b[i].raw(), a[i].bytes()), 0) << where << ", fetch " << i;
  }
}

// Trains a little network in two towers that share variables on the CPU; gives the losses and what was learnt.
std::vector<Tensor> train_towers(const Machine& machine, bool resource, int steps) {
  Graph g;
  g.set_random_seed(7);
  Output x = g.placeholder(float32, {8, 6, 6, 2}), y = g.placeholder(float32, {8, 3});
  std::vector<Output> xs = split(x, 2, 0), ys = split(y, 2, 0);
  Variable filter, w, b;
  {
    Scope cpu = g.device("/cpu:0");
    const VariableOptions kind{.use_resource = resource};
    filter = g.variable("filter", numbers({3, 3, 2, 4}, 0.3f), kind);
    w = g.variable("w", numbers({144, 3}, 0.1f), kind);
    b = g.variable("b", numbers({3}, 0.1f), kind);
  }
  std::vector<Output> losses;
  std::vector<std::vector<Gradient>> tower_gradients;
  for (size_t tower = 0; tower < 2; ++tower) {
    Scope device = g.device(machine.devices[tower]);
    Output h = nn::relu(nn::conv2d(xs[tower], filter));
    Output logits = matmul(reshape(h, {4, 144}), w) + b;
    losses.push_back(reduce_mean(square(logits - ys[tower])) + 0.01f * reduce_sum(square(w)));
    tower_gradients.push_back(gradients({losses[tower]}, {filter, w, b}));
  }
  std::vector<Operation> updates;
  const Variable variables[] = {filter, w, b};
  for (size_t v = 0; v < 3; ++v) {
    Output mean = (tower_gradients[0][v].dense() + tower_gradients[1][v].dense()) * 0.5f;
    updates.push_back(assign_sub(variables[v], mean * 0.1f).op());
  }
  Operation train = g.group(updates);
  Output loss = (losses[0] + losses[1]) * 0.5f;

  Session session(g, machine.options);
  session.run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int i = 0; i < steps; ++i) {
    results.push_back(session.run(loss, {{x, numbers({8, 6, 6, 2})}, {y, numbers({8, 3})}}, {train}));
  }
  for (const Tensor& value : session.run({filter, w, b})) results.push_back(value);
  return results;
}

TEST(Parts, ResultsDoNotDependOnPlacement) {
  for (bool resource : {false, true}) {
    const std::vector<Tensor> expected = train_towers(machines()[0], resource, 6);
    EXPECT_LT(expected[5].scalar<float>(), expected[0].scalar<float>());
    for (const Machine& machine : machines()) {
      const std::vector<Tensor> results = train_towers(machine, resource, 6);
      expect_near(results, expected, machine.name);
      expect_same_bits(train_towers(machine, resource, 6), results, machine.name);
    }
  }
}

// Copies that a traced run made: "node -> device".
std::multiset<std::string> copies(const RunTrace& trace) {
  std::multiset<std::string> names;
  for (const RunTrace::Event& event : trace.events) {
    if (event.op == "_Copy") names.insert(event.node);
  }
  return names;
}

TEST(Parts, AValueIsCopiedOnceHoweverManyReadIt) {
  Graph g;
  Output x = g.placeholder(float32, {4}, "x"), a, sum;
  {
    Scope gpu = g.device("/gpu:0");
    a = exp(x, "a");
  }
  {
    Scope gpu = g.device("/gpu:1");
    sum = add_n({matmul(reshape(a, {4, 1}), reshape(a, {1, 4})), diag(tanh(a)), diag(a)}, "sum");
  }
  Session session(g, virtual_gpus(2));
  RunTrace trace;
  session.run(std::vector<Output>{sum, a}, {{x, numbers({4})}}, {}, {.trace = &trace});
  EXPECT_EQ(copies(trace),
            (std::multiset<std::string>{"x/_copy:GPU:0", "a/_copy:GPU:1", "a/_copy:CPU:0", "sum/_copy:CPU:0"}));
}

TEST(Parts, NothingIsCopiedBetweenDevicesThatShareMemory) {
  Graph g;
  Output x = g.placeholder(float32, {4}), a, b;
  {
    Scope cpu = g.device("/cpu:1");
    a = exp(x, "a");
  }
  {
    Scope cpu = g.device("/cpu:0");
    b = reduce_sum(a, {}, "b");
  }
  Session session(g, logical_cpus(2));
  RunTrace trace;
  session.run(b, {{x, numbers({4})}}, {}, {.trace = &trace});
  EXPECT_TRUE(copies(trace).empty());
  std::set<std::string> devices;
  for (const RunTrace::Event& event : trace.events) devices.insert(event.device);
  EXPECT_EQ(devices, (std::set<std::string>{"/device:CPU:0", "/device:CPU:1"}));
}

TEST(Parts, ConstantsAreNotCopied) {
  Graph g;
  Output x = g.placeholder(float32, {4});
  Output c = g.constant(numbers({4}));
  Scope gpu = g.device("/gpu:0");
  Output y = add(x, c, "y");
  Session session(g, virtual_gpus(1));
  RunTrace trace;
  session.run(y, {{x, numbers({4})}}, {}, {.trace = &trace});
  EXPECT_EQ(copies(trace).size(), 2u);
}

TEST(Parts, ShapesThatOnlyTheRunKnowsCrossToo) {
  for (const Machine& machine : machines()) {
    Graph g;
    Output x = g.placeholder(float32, {10}), where_positive, picked, twice, total;
    {
      Scope device = g.device(machine.devices[0]);
      where_positive = where(greater(x, 0.f));
      picked = gather(x, squeeze(where_positive, {1}));
    }
    {
      Scope device = g.device(machine.devices[1]);
      twice = picked * 2.f;
      total = reduce_sum(reshape(twice, {-1}));
    }
    Session session(g, machine.options);
    for (int run = 0; run < 3; ++run) {
      auto [rows, sum] = session.run(
          {twice, total}, {{x, Tensor::from({1.f, -1.f, 2.f, -2.f, 3.f, -3.f, 4.f, -4.f, 5.f, run - 1.f}, {10})}});
      EXPECT_EQ(rows.elements(), run == 2 ? 6 : 5) << machine.name;
      EXPECT_EQ(sum.scalar<float>(), run == 2 ? 32 : 30) << machine.name;
    }
  }
}

TEST(Parts, LoopsAndBranchesRunOnTheirDevices) {
  std::vector<Tensor> expected;
  for (const Machine& machine : machines()) {
    Graph g;
    Output x = g.placeholder(float32, {8, 8}), p = g.placeholder(boolean, {});
    Variable counter;
    {
      Scope cpu = g.device("/cpu:0");
      counter = g.variable("counter", 0.f);
    }
    Output looped, chosen, counted;
    {
      Scope device = g.device(machine.devices[0]);
      looped = while_loop([](const std::vector<Output>& v) { return less(v[0], 5); },
                          [&](const std::vector<Output>& v) {
                            Output y = tanh(matmul(v[1], x));
                            Scope other = g.device(machine.devices[1]);
                            return std::vector<Output>{v[0] + 1, y + 0.5f};
                          },
                          {0, x})[1];
    }
    {
      Scope device = g.device(machine.devices[1]);
      chosen = cond(
          p, [&] { return matmul(looped, x); }, [&] { return exp(x); });
      counted = while_loop([](const std::vector<Output>& v) { return less(v[0], 3); },
                           [&](const std::vector<Output>& v) {
                             Operation add = assign_add(counter, 1.f).op();
                             Scope after = g.control_dependencies({add});
                             return std::vector<Output>{v[0] + 1};
                           },
                           {g.constant(0, int32)})[0];
    }
    Output loss = reduce_sum(square(chosen));
    Output grad = gradients({loss}, {x})[0].dense();
    Session session(g, machine.options);
    session.run(g.global_variables_initializer());
    std::vector<Tensor> results;
    for (bool predicate : {true, false}) {
      const std::vector<Feed> feeds = {{x, numbers({8, 8}, 0.3f)}, {p, predicate}};
      for (const Tensor& value : session.run(std::vector<Output>{looped, chosen, grad}, feeds, {counted.op()})) {
        results.push_back(value);
      }
    }
    results.push_back(session.run(counter));
    EXPECT_EQ(results.back().scalar<float>(), 6) << machine.name;
    if (expected.empty()) expected = results;
    expect_near(results, expected, machine.name);
  }
}

TEST(Parts, StringsAndHandlesCrossWithoutACopy) {
  Graph g;
  Variable v;
  Output text;
  {
    Scope gpu = g.device("/gpu:0");
    v = g.variable("v", numbers({3}), {.use_resource = true});
  }
  text = reduce_join(as_string(v * 2.f), 0);
  Session session(g, virtual_gpus(1));
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(text).scalar<std::string>(), session.run(text).scalar<std::string>());
}

TEST(Parts, TheFirstExceptionEndsEveryPart) {
  for (const Machine& machine : machines()) {
    Graph g;
    Output x = g.placeholder(float32, {64, 64}), index = g.placeholder(int32, {1});
    Output slow = x, bad;
    {
      Scope device = g.device(machine.devices[0]);
      for (int i = 0; i < 20; ++i) slow = tanh(matmul(slow, slow));
    }
    {
      Scope device = g.device(machine.devices[1]);
      bad = gather(x, index, 0, "bad");
    }
    Output both = reduce_sum(slow) + reduce_sum(bad);
    Session session(g, machine.options);
    for (int run = 0; run < 20; ++run) {
      try {
        session.run(both, {{x, numbers({64, 64}, 0.1f)}, {index, Tensor(std::vector<int32_t>{99})}});
        FAIL() << machine.name;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::InvalidArgument) << e.what();
        EXPECT_EQ(e.node(), "bad") << e.what();
      }
      EXPECT_NO_THROW(session.run(both, {{x, numbers({64, 64}, 0.1f)}, {index, Tensor(std::vector<int32_t>{5})}}));
    }
  }
}

// Work for two devices that takes long enough to be interrupted; each needs the other's result again and again.
struct LongRun {
  explicit LongRun(const Machine& machine, int rounds = 2000) {
    x = g.placeholder(float32, {64, 64});
    Output a = x, b = x;
    for (int i = 0; i < rounds; ++i) {
      Output next;
      {
        Scope device = g.device(machine.devices[0]);
        next = tanh(matmul(a, b));
      }
      Scope device = g.device(machine.devices[1]);
      b = tanh(matmul(b, next));
      a = next;
    }
    result = a + b;
  }
  Graph g;
  Output x, result;
};

TEST(Parts, ClosingTheSessionEndsARunInSeveralParts) {
  for (const Machine& machine : machines()) {
    LongRun work(machine);
    auto session = std::make_unique<Session>(work.g, machine.options);
    std::atomic<bool> started{false};
    std::thread runner([&] {
      try {
        for (;;) {
          started = true;
          session->run(work.result, {{work.x, numbers({64, 64})}});
        }
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::Cancelled) << e.what();
      }
    });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    session->close();
    runner.join();
  }
}

TEST(Parts, ADeadlineEndsThem) {
  for (const Machine& machine : machines()) {
    LongRun work(machine);
    Session session(work.g, machine.options);
    session.run(work.result, {{work.x, numbers({64, 64})}});
    try {
      for (;;) {
        session.run(work.result, {{work.x, numbers({64, 64})}}, {}, {.timeout = std::chrono::milliseconds(1)});
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::DeadlineExceeded) << e.what();
    }
  }
}

TEST(Parts, ManyThreadsRunThemAtOnce) {
  for (const Machine& machine : machines()) {
    LongRun work(machine, 12);
    Session session(work.g, machine.options);
    const Tensor expected = session.run(work.result, {{work.x, numbers({64, 64})}});
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&] {
        for (int run = 0; run < 10; ++run) {
          Tensor value = session.run(work.result, {{work.x, numbers({64, 64})}});
          wrong += std::memcmp(value.raw(), expected.raw(), value.bytes()) != 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << machine.name;
  }
}

TEST(Parts, ADeviceThatDoesNotExistIsAnError) {
  Graph g;
  Scope gpu = g.device("/gpu:3");
  Output y = g.constant(1.f) + 2.f;
  try {
    Session(g, virtual_gpus(2)).run(y);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::InvalidArgument);
    EXPECT_NE(std::string(e.what()).find("available devices are"), std::string::npos) << e.what();
  }
}

TEST(Parts, AFullGpuNamesWhoHoldsItsMemory) {
  Graph g;
  Scope gpu = g.device("/gpu:0");
  Output x = g.placeholder(float32, {1024, 1024});
  Variable large = g.variable("large", zeros(g, {1024, 512}));
  Variable small = g.variable("small", zeros(g, {1024}));
  Output y = matmul(matmul(x, x), matmul(x, large)) + reduce_sum(small);
  SessionOptions options{.virtual_gpus = {.count = 1, .memory_limit = 8 << 20}};
  Session session(g, options);
  session.run(g.global_variables_initializer());
  for (int run = 0; run < 2; ++run) {
    try {
      session.run(y, {{x, numbers({1024, 1024})}});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::ResourceExhausted);
      const std::string message = e.what();
      for (const char* part : {"/device:GPU:0", "8.0 MB", "variable 'large' 2.0 MB", "variable 'small' 4.0 KB"}) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
      }
    }
  }
  EXPECT_EQ(session.run(small).elements(), 1024);
}

TEST(Parts, PlansThatNobodyRunsGiveTheirMemoryBack) {
  Graph g;
  Scope gpu = g.device("/gpu:0");
  Output x = g.placeholder(float32, {1024, 1024});
  Output a = reduce_sum(exp(x)), b = reduce_sum(tanh(x)), c = reduce_sum(square(x));
  Session session(g, {.virtual_gpus = {.count = 1, .memory_limit = 11 << 20}});
  auto third = session.make_callable({.feeds = {x}, .fetches = {c}});
  const Tensor xs = numbers({1024, 1024});
  for (int run = 0; run < 3; ++run) {  // each plan needs more than half of the memory
    EXPECT_NO_THROW(session.run(a, {{x, xs}}));
    EXPECT_NO_THROW(session.run(b, {{x, xs}}));
    EXPECT_NO_THROW(third(xs));
  }
}

TEST(Parts, VariablesAreWrittenWhereTheyStand) {
  Graph g;
  Variable v;
  {
    Scope gpu = g.device("/gpu:1");
    v = g.variable("v", numbers({100}));
  }
  Operation update;
  {
    Scope gpu = g.device("/gpu:0");
    update = assign_add(v, v * 0.5f).op();
  }
  Session session(g, virtual_gpus(2));
  session.run(g.global_variables_initializer());
  RunTrace trace;
  session.run(std::vector<Output>{}, {}, {update}, {.trace = &trace});
  for (const RunTrace::Event& event : trace.events) {
    EXPECT_EQ(event.device, event.op == "Mul"         ? "/device:GPU:0"
                            : event.op == "AssignAdd" ? "/device:GPU:1"
                                                      : event.device)
        << event.op;
  }
  EXPECT_FLOAT_EQ(session.run(v).data<float>()[0], numbers({100}).data<float>()[0] * 1.5f);
}

TEST(Parts, ATraceHasALaneForEachDevice) {
  Graph g;
  Output x = g.placeholder(float32, {32, 32}), a, b;
  {
    Scope gpu = g.device("/gpu:0");
    a = matmul(x, x, {}, "a");
  }
  {
    Scope gpu = g.device("/gpu:1");
    b = matmul(x, x, {.transpose_b = true}, "b");
  }
  Output c;
  {
    Scope cpu = g.device("/cpu:0");
    c = add(a, b, "c");
  }
  Session session(g, virtual_gpus(2));
  RunTrace trace;
  session.run(c, {{x, numbers({32, 32})}}, {}, {.trace = &trace});
  std::map<int, std::set<std::string>> lanes;
  for (const RunTrace::Event& event : trace.events) lanes[event.thread].insert(event.device);
  EXPECT_EQ(lanes.size(), 3u);
  for (const auto& [lane, devices] : lanes) EXPECT_EQ(devices.size(), 1u) << lane;
  const std::string json = trace.chrome_trace();
  for (const char* part : {"/device:GPU:0", "/device:GPU:1", "/device:CPU:0", "a/_copy:CPU:0"}) {
    EXPECT_NE(json.find(part), std::string::npos) << json;
  }
}

}  // namespace
}  // namespace weir
