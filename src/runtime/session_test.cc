#include "weir/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "weir/weir.h"

namespace weir {
namespace {

Code code_of(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
  } catch (const Error& e) {
    if (message) *message = e.what();
    return e.code();
  }
  return Code::Ok;
}

#define EXPECT_FAILS(code, part, ...)                                    \
  do {                                                                   \
    std::string message;                                                 \
    EXPECT_EQ(code_of([&] { __VA_ARGS__; }, &message), code) << message; \
    EXPECT_NE(message.find(part), std::string::npos) << message;         \
  } while (false)

std::vector<float> values(const Tensor& t) {
  auto data = t.data<float>();
  return {data.begin(), data.end()};
}

TEST(Session, ComputesWhatIsFetched) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown}, "x");
  Output y = x * 2.f + 1.f;
  Session session(g);
  EXPECT_EQ(values(session.run(y, {{x, std::vector<float>{1, 2, 3}}})), (std::vector<float>{3, 5, 7}));
  auto [a, b] = session.run({y, x}, {{x, std::vector<float>{4}}});
  EXPECT_EQ(values(a), (std::vector<float>{9}));
  EXPECT_EQ(values(b), (std::vector<float>{4}));
}

TEST(Session, TakesAnyTensorAsFeed) {
  Graph g;
  Output a = g.constant(Tensor(2.f)), b = a * 3.f, c = b + 1.f;
  Session session(g);
  EXPECT_EQ(session.run(c).scalar<float>(), 7);
  EXPECT_EQ(session.run(c, {{b, 10.f}}).scalar<float>(), 11);
  EXPECT_EQ(session.run(c).scalar<float>(), 7);
}

TEST(Session, DoesNotWaitForAPlaceholderThatIsFed) {
  Graph g;
  Output x = g.placeholder(float32, {}, "x");
  Output y;
  {
    Scope after = g.control_dependencies({x.op()});
    y = identity(g.constant(Tensor(2.f)));
  }
  Session session(g);
  EXPECT_EQ(session.run(y, {{x, 1.f}}).scalar<float>(), 2);
}

TEST(Session, TellsTheAssertionThatAShapeBreaks) {
  Graph g;
  Output x = g.placeholder(float32, Shape::unknown(), "x"), y = g.placeholder(float32, Shape::unknown(), "y");
  Operation same = assert_true(equal(rank(x), rank(y)), {g.constant(Tensor(std::string("ranks differ")))});
  Scope after = g.control_dependencies({same});
  Output product = matmul(identity(x), identity(y));
  Session session(g);
  EXPECT_FAILS(Code::InvalidArgument, "ranks differ",
               session.run(product, {{x, Tensor::zeros(float32, {2, 2})}, {y, Tensor::zeros(float32, {3})}}));
}

TEST(Session, DoesNotComputeWhatIsNotNeeded) {
  Graph g;
  Output x = g.placeholder(float32, {}, "x");
  Output failing = check_numerics(x / 0.f, "never");
  Output fine = x + 1.f;
  (void)failing;
  Session session(g);
  EXPECT_EQ(session.run(fine, {{x, 1.f}}).scalar<float>(), 2);
}

TEST(Session, FollowsTheGraphAsItGrows) {
  Graph g;
  Output x = g.constant(Tensor(1.f));
  Session session(g);
  for (int i = 0; i < 5; ++i) {
    x = x + 1.f;
    EXPECT_EQ(session.run(x).scalar<float>(), static_cast<float>(i + 2));
  }
}

TEST(Session, PlansAnewForNewShapes) {
  Graph g;
  Output x = g.placeholder(float32);
  Output y = reduce_sum(square(x));
  Session session(g);
  for (int64_t n = 1; n < 100; ++n) {
    Tensor t(float32, {n, 2});
    std::fill_n(t.mutable_data<float>(), 2 * n, 1.f);
    EXPECT_EQ(session.run(y, {{x, t}}).scalar<float>(), static_cast<float>(2 * n));
  }
}

TEST(Session, FetchedTensorsOutliveIt) {
  Tensor kept;
  {
    Graph g;
    Output x = g.placeholder(float32, {kUnknown});
    Session session(g);
    kept = session.run(x * 2.f, {{x, std::vector<float>{1, 2}}});
  }
  EXPECT_EQ(values(kept), (std::vector<float>{2, 4}));
}

TEST(Session, FetchedTensorsKeepTheirValues) {
  Graph g;
  Variable v = g.variable("v", Tensor(std::vector<float>{1, 2}));
  Output next = assign_add(v, std::vector<float>{1, 1});
  Session session(g);
  session.run(g.global_variables_initializer());
  Tensor before = session.run(v);
  session.run(next.op());
  EXPECT_EQ(values(before), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(session.run(v)), (std::vector<float>{2, 3}));
}

TEST(Session, ReadsBeforeWritesThatDoNotDependOnThem) {
  Graph g;
  Variable v = g.variable("v", 1.f);
  Output doubled = v * 2.f;
  Operation add = assign_add(v, 10.f).op();
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(doubled, {}, {add}).scalar<float>(), 2);
  EXPECT_EQ(session.run(doubled, {}, {add}).scalar<float>(), 22);
}

TEST(Session, FetchedVariablesHaveTheirValueAfterTheWrites) {
  Graph g;
  Variable v = g.variable("v", 1.f), untouched = g.variable("untouched", 5.f);
  Output read = identity(read_variable(v)), doubled = v * 2.f, added = assign_add(v, 10.f);
  Output branch = cond(
      doubled < 0.f, [&] { return identity(doubled); }, [&] { return identity(assign_add(v, 100.f)); });
  Session session(g);
  session.run(g.global_variables_initializer());
  const std::vector<Tensor> got = session.run(std::vector<Output>{v, read, doubled, added, untouched});
  const float expected[] = {11, 11, 2, 11, 5};
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].scalar<float>(), expected[i]) << i;
  const std::vector<Tensor> both = session.run(std::vector<Output>{v, branch});
  EXPECT_EQ(both[0].scalar<float>(), 111);
  EXPECT_EQ(session.run(v, {{read, 7.f}}, {added.op()}).scalar<float>(), 121);
  EXPECT_EQ(session.run(read, {{read, 7.f}}, {added.op()}).scalar<float>(), 7);
}

TEST(Session, ControlDependenciesOrderReadsAfterWrites) {
  Graph g;
  Variable v = g.variable("v", 1.f);
  Operation add = assign_add(v, 10.f).op();
  Output after;
  {
    auto scope = g.control_dependencies({add});
    after = read_variable(v);
  }
  Session session(g);
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(after).scalar<float>(), 11);
  EXPECT_EQ(session.run(after).scalar<float>(), 21);
}

TEST(Session, NamesTheUninitialisedVariable) {
  Graph g;
  Variable v = g.variable("weights", 1.f);
  Session session(g);
  EXPECT_FAILS(Code::FailedPrecondition, "weights", session.run(v));
  session.run(g.global_variables_initializer());
  EXPECT_EQ(session.run(v).scalar<float>(), 1);
}

TEST(Session, RefusesWrongFeedsAndGoesOnWorking) {
  Graph g, other;
  Output x = g.placeholder(float32, {kUnknown, 2}, "x");
  Output y = reduce_sum(x);
  Output foreign = other.constant(Tensor(1.f));
  Session session(g);
  Tensor good(float32, {1, 2});
  std::fill_n(good.mutable_data<float>(), 2, 1.f);
  EXPECT_FAILS(Code::InvalidArgument, "'x'", session.run(y));
  EXPECT_FAILS(Code::InvalidArgument, "[?,2]", session.run(y, {{x, std::vector<float>{1, 2}}}));
  EXPECT_FAILS(Code::InvalidArgument, "int32", session.run(y, {{x, std::vector<int32_t>{1, 2}}}));
  EXPECT_FAILS(Code::InvalidArgument, "twice", session.run(y, {{x, good}, {x, good}}));
  EXPECT_FAILS(Code::InvalidArgument, "another graph", session.run(foreign));
  EXPECT_FAILS(Code::InvalidArgument, "empty", session.run(Output()));
  EXPECT_FAILS(Code::InvalidArgument, "session_test.cc", session.run(y));
  EXPECT_EQ(session.run(y, {{x, good}}).scalar<float>(), 2);
}

TEST(Session, RefusesRunsAfterClose) {
  Graph g;
  Output x = g.constant(Tensor(1.f));
  Session session(g);
  session.run(x);
  session.close();
  EXPECT_FAILS(Code::Cancelled, "closed", session.run(x));
  session.close();
}

TEST(Session, ManyThreadsRunAtOnce) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown});
  Output y = reduce_sum(square(x) + x);
  Session session(g);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        int n = 1 + (i + t) % 7;
        Tensor in(std::vector<float>(static_cast<size_t>(n), 2.f));
        if (session.run(y, {{x, in}}).scalar<float>() != static_cast<float>(6 * n)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, ConcurrentLockedUpdatesAreAtomic) {
  Graph g;
  Variable v = g.variable("v", Tensor::zeros(float32, {1000}));
  Operation add = assign_add(v, Tensor(std::vector<float>(1000, 1.f)), {}, {.use_locking = true}).op();
  Session session(g);
  session.run(g.global_variables_initializer());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) session.run(add);
    });
  }
  std::thread reader([&] {
    for (int i = 0; i < 50; ++i) {
      Tensor snapshot = session.run(v);
      for (float f : snapshot.data<float>()) ASSERT_EQ(f, snapshot.data<float>()[0]);
    }
  });
  for (std::thread& thread : threads) thread.join();
  reader.join();
  EXPECT_EQ(session.run(v).data<float>()[0], 200);
}

TEST(Session, CallableGivesTheSameAsRun) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown});
  Variable w = g.variable("w", 3.f);
  Output y = x * w;
  Session session(g);
  session.run(g.global_variables_initializer());
  auto call = session.make_callable({.feeds = {x}, .fetches = {y}});
  EXPECT_EQ(values(call(std::vector<float>{1, 2})[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(values(call(std::vector<float>{1})[0]), (std::vector<float>{3}));
  EXPECT_FAILS(Code::InvalidArgument, "feeds", call());
}

// Runs until it is stopped: a graph that is long enough to be caught between two steps.
Output long_graph(Graph& g) {
  Tensor big = Tensor::zeros(float32, {256, 256});
  Output x = g.placeholder(float32, {256, 256}, "big");
  Output y = x;
  for (int i = 0; i < 2000; ++i) y = matmul(y, x);
  return y;
}

TEST(Session, CancelEndsARunFromAnotherThread) {
  Graph g;
  Output y = long_graph(g);
  Session session(g);
  std::stop_source source;
  std::atomic<bool> started{false};
  std::thread canceller([&] {
    while (!started) std::this_thread::yield();
    source.request_stop();
  });
  started = true;
  EXPECT_FAILS(Code::Cancelled, "cancelled",
               for (int i = 0; i < 100; ++i) session.run(y, {{g.output("big:0"), Tensor::zeros(float32, {256, 256})}},
                                                         {}, {.stop = source.get_token()}));
  canceller.join();
  Output small = g.constant(Tensor(1.f)) + 1.f;
  EXPECT_EQ(session.run(small).scalar<float>(), 2);
}

TEST(Session, TimeoutEndsARun) {
  Graph g;
  Output y = long_graph(g);
  Session session(g);
  EXPECT_FAILS(Code::DeadlineExceeded, "timeout",
               for (int i = 0; i < 100; ++i) session.run(y, {{g.output("big:0"), Tensor::zeros(float32, {256, 256})}},
                                                         {}, {.timeout = std::chrono::milliseconds(1)}));
}

TEST(Session, TraceNamesNodesAndGivesStepStats) {
  Graph g;
  Output x = g.placeholder(float32, {8, 8});
  Output y = matmul(x, x, {}, "product");
  Session session(g);
  RunTrace trace;
  session.run(reduce_sum(y), {{x, Tensor::zeros(float32, {8, 8})}}, {}, {.trace = &trace});
  bool found = false;
  for (const RunTrace::Event& event : trace.events) {
    found |=
        event.node == "product" && event.op == "MatMul" && event.output_bytes == 256 && event.end_ns >= event.start_ns;
  }
  EXPECT_TRUE(found);
  EXPECT_NE(trace.chrome_trace().find("\"product\""), std::string::npos);
  EXPECT_NE(trace.step_stats().find("product"), std::string::npos);
}

TEST(Session, TakesDenormalsForZeroInRunsAlone) {
  constexpr float kSmall = 1e-38f;  // below it are the denormals
  Graph g;
  Output x = g.placeholder(float32, {kUnknown}, "x");
  SessionOptions options;
  options.intra_op_parallelism_threads = 4;
  Session session(g, options);
  const std::vector<float> many(100000, kSmall);
  for (const float y : values(session.run(x / 4.f, {{x, many}}))) ASSERT_EQ(y, 0);
  volatile float own = kSmall;
  EXPECT_GT(own / 4, 0);
}

TEST(Session, StringsFlowThroughPlans) {
  Graph g;
  Output a = g.placeholder(string, {kUnknown});
  Output b = concat({a, a}, 0);
  Session session(g);
  Tensor result = session.run(b, {{a, std::vector<std::string>{"left", "right"}}});
  ASSERT_EQ(result.elements(), 4);
  EXPECT_EQ(result.data<std::string>()[3], "right");
}

TEST(Session, ResultsDoNotDependOnPasses) {
  Graph g;
  g.set_random_seed(7);
  Output x = g.placeholder(float32, {16, 10});
  Variable w = g.variable("w", random_normal(g, {10, 12}));
  Variable b = g.variable("b", random_normal(g, {12}));
  Output h = nn::relu(matmul(x, w) + b);
  Output loss = reduce_mean(square(tanh(h) * 0.5f - 0.1f));
  Output gradient = gradients({loss}, {w})[0].dense();
  Tensor in(float32, {16, 10});
  for (int i = 0; i < 160; ++i) in.mutable_data<float>()[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;

  std::vector<std::vector<float>> results;
  std::vector<PassOptions> variants(7);
  variants[1] = PassOptions::none();
  variants[2].fold_constants = false;
  variants[3].remove_identities = false;
  variants[4].share_common_subexpressions = false;
  variants[5].fuse_bias_activation = false;
  variants[6].fuse_elementwise = false;
  for (const PassOptions& passes : variants) {
    Session session(g, {.passes = passes});
    session.run(g.global_variables_initializer());
    auto [l, d] = session.run({loss, gradient}, {{x, in}});
    std::vector<float> all = values(d);
    all.push_back(l.scalar<float>());
    results.push_back(all);
  }
  for (const std::vector<float>& result : results) {
    for (size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], results[0][i], 1e-5f);
  }
}

}  // namespace
}  // namespace weir
