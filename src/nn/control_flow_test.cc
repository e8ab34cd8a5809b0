#include "weir/control_flow.h"

#include <gtest/gtest.h>

#include <thread>

#include "weir/weir.h"

namespace weir {
namespace {

std::string message_of(const std::function<void()>& run, Code code = Code::InvalidArgument) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

std::vector<float> floats(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

TEST(Cond, RunsOneBranchOnly) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2});
  Variable counter = g.variable("counter", 0.f);
  Output y = cond(
      p, [&] { return identity(assign_add(counter, 1)) + x; }, [&] { return x * 2; });
  EXPECT_EQ(y.name(), "cond/Merge:0");
  EXPECT_EQ(y.shape(), Shape({2}));
  Session s(g);
  s.run(g.global_variables_initializer());
  Tensor xs = std::vector<float>{1, 2};
  EXPECT_EQ(floats(s.run(y, {{p, true}, {x, xs}})), (std::vector<float>{2, 3}));
  EXPECT_EQ(floats(s.run(y, {{p, false}, {x, xs}})), (std::vector<float>{2, 4}));
  EXPECT_EQ(floats(s.run(y, {{p, true}, {x, xs}})), (std::vector<float>{3, 4}));
  EXPECT_EQ(s.run(counter).scalar<float>(), 2);
}

TEST(Cond, PassesInputsThroughAndGivesConstants) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2});
  Output h = x * 3;  // in the arena
  std::vector<Output> y = cond(
      p,
      [&] {
        return std::vector<Output>{h, g.constant(1, float32)};
      },
      [&] {
        return std::vector<Output>{x, g.constant(2, float32)};
      });
  EXPECT_EQ(y[1].name(), "cond/Merge_1:0");
  Output after = nn::relu(y[0] * 1 + 1) + y[1];
  Session s(g);
  Tensor xs = std::vector<float>{1, 2};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats(s.run(after, {{p, true}, {x, xs}})), (std::vector<float>{5, 8}));
    EXPECT_EQ(floats(s.run(after, {{p, false}, {x, xs}})), (std::vector<float>{4, 5}));
    EXPECT_EQ(floats(s.run(y[0], {{p, true}, {x, xs}})), (std::vector<float>{3, 6}));
  }
}

TEST(Cond, ChoosesTheBranchOfAKnownPredicateWhenThePlanIsMade) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output y = cond(
      g.constant(true), [&] { return x + 1; }, [&] { return x + g.placeholder(float32, {}, "unfed"); });
  Session s(g);
  EXPECT_EQ(floats(s.run(y, {{x, std::vector<float>{1, 2}}})), (std::vector<float>{2, 3}));
}

TEST(Cond, RunsOperations) {
  Graph g;
  Output p = g.placeholder(boolean, {});
  Variable v = g.variable("v", 1.f);
  Operation op = cond(
      p, [&] { return assign(v, 5.f).op(); }, [&] { return g.no_op(); });
  Session s(g);
  s.run(g.global_variables_initializer());
  s.run(op, {{p, false}});
  EXPECT_EQ(s.run(v).scalar<float>(), 1);
  s.run(op, {{p, true}});
  EXPECT_EQ(s.run(v).scalar<float>(), 5);
}

TEST(Cond, NestsAndTakesShapesThatOnlyTheRunKnows) {
  Graph g;
  Output p = g.placeholder(boolean, {}), q = g.placeholder(boolean, {}), x = g.placeholder(float32, {kUnknown});
  Output kept = boolean_mask(x, x > 0.f);
  Output y = cond(
      p,
      [&] {
        return cond(
            q, [&] { return kept * 2; }, [&] { return kept + 1; });
      },
      [&] { return reduce_sum(kept); });
  EXPECT_FALSE(y.shape().has_rank());
  Session s(g);
  Tensor xs = std::vector<float>{-1, 2, 3};
  EXPECT_EQ(floats(s.run(y, {{p, true}, {q, true}, {x, xs}})), (std::vector<float>{4, 6}));
  EXPECT_EQ(floats(s.run(y, {{p, true}, {q, false}, {x, xs}})), (std::vector<float>{3, 4}));
  EXPECT_EQ(floats(s.run(y, {{p, false}, {q, false}, {x, xs}})), (std::vector<float>{5}));
  for (int n = 1; n < 40; ++n) {  // more shapes than plans are kept for
    Tensor many = std::vector<float>(static_cast<size_t>(n), 1);
    EXPECT_EQ(s.run(y, {{p, true}, {q, false}, {x, many}}).elements(), n);
  }
}

TEST(Cond, MakesVariablesOutside) {
  Graph g;
  Output p = g.placeholder(boolean, {});
  Output y = cond(
      p, [&] { return g.get_variable("w", {2}, {.initializer = ones_initializer()}).value() * 2; },
      [&] { return zeros(g, {2}, float32); });
  Session s(g);
  s.run(g.global_variables_initializer());
  EXPECT_EQ(floats(s.run(y, {{p, true}})), (std::vector<float>{2, 2}));
}

TEST(Cond, RefusesBranchesThatDiffer) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2});
  expect_contains(message_of([&] {
                    cond(
                        p, [&] { return x; }, [&] { return cast(x, int32); });
                  }),
                  "Outputs of true_fn and false_fn must have the same type: float32, int32");
  using List = std::vector<Output>;
  expect_contains(message_of([&] {
                    cond(
                        p, [&] { return List{x}; },
                        [&] {
                          return List{x, x};
                        });
                  }),
                  "same number of outputs");
  expect_contains(message_of([&] {
                    cond(
                        x, [&] { return x; }, [&] { return x; });
                  }),
                  "expected type of bool");
}

TEST(Cond, ErrorsInsideNameTheInnerNode) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(int32, {});
  Output y = cond(
      p, [&] { return floordiv(g.constant(1), x); }, [&] { return x; });
  Session s(g);
  std::string message = message_of([&] { s.run(y, {{p, true}, {x, 0}}); });
  expect_contains(message, "cond/");
  expect_contains(message, "control_flow_test.cc");
  EXPECT_EQ(s.run(y, {{p, true}, {x, 1}}).scalar<int32_t>(), 1);
}

TEST(Case, TakesTheFirstTrueCase) {
  Graph g;
  Output x = g.placeholder(int32, {});
  Output y = case_({{less(x, 1), [&] { return g.constant(10); }}, {less(x, 5), [&] { return g.constant(20); }}},
                   [&] { return g.constant(30); });
  EXPECT_EQ(y.name(), "case/cond/Merge:0");
  Output strict = case_({{less(x, 1), [&] { return g.constant(1); }}, {less(x, 5), [&] { return g.constant(2); }}});
  Output exclusive = case_({{less(x, 1), [&] { return g.constant(1); }}, {less(x, 5), [&] { return g.constant(2); }}},
                           [&] { return g.constant(3); }, {.exclusive = true});
  Session s(g);
  EXPECT_EQ(s.run(y, {{x, 0}}).scalar<int32_t>(), 10);
  EXPECT_EQ(s.run(y, {{x, 3}}).scalar<int32_t>(), 20);
  EXPECT_EQ(s.run(y, {{x, 7}}).scalar<int32_t>(), 30);
  EXPECT_EQ(s.run(strict, {{x, 3}}).scalar<int32_t>(), 2);
  expect_contains(message_of([&] { s.run(strict, {{x, 7}}); }), "None of conditions evaluated as True");
  EXPECT_EQ(s.run(exclusive, {{x, 3}}).scalar<int32_t>(), 2);
  expect_contains(message_of([&] { s.run(exclusive, {{x, 0}}); }), "exclusive=True");
}

TEST(WhileLoop, CountsAndCarriesTensors) {
  Graph g;
  Output n = g.placeholder(int32, {}), x = g.placeholder(float32, {2});
  std::vector<Output> y = while_loop([&](const std::vector<Output>& v) { return less(v[0], n); },
                                     [&](const std::vector<Output>& v) {
                                       return std::vector<Output>{v[0] + 1, v[1] * x};
                                     },
                                     {0, x});
  EXPECT_EQ(y[0].name(), "while/Exit:0");
  EXPECT_EQ(y[1].name(), "while/Exit_1:0");
  Session s(g);
  Tensor xs = std::vector<float>{1, 2};
  for (int count : {0, 1, 3}) {
    auto [i, v] = s.run({y[0], y[1]}, {{n, count}, {x, xs}});
    EXPECT_EQ(i.scalar<int32_t>(), count);
    EXPECT_EQ(floats(v), (std::vector<float>{1, static_cast<float>(2 << count)}));
  }
}

TEST(WhileLoop, LetsSizesChangeWhereTheInvariantAllows) {
  Graph g;
  Output x = g.placeholder(float32, {1, 2});
  auto grow = [&](const std::vector<Output>& v) { return std::vector<Output>{v[0] + 1, concat({v[1], v[1]}, 0)}; };
  auto below = [](const std::vector<Output>& v) { return less(v[0], 4); };
  expect_contains(message_of([&] {
                    while_loop(below, grow, {0, x});
                  }),
                  "enters the loop with shape (1, 2), but has shape (2, 2) after one iteration");
  std::vector<Output> y = while_loop(below, grow, {0, x}, {.shape_invariants = {{}, {kUnknown, 2}}});
  EXPECT_EQ(y[1].shape().str(), Shape({kUnknown, 2}).str());
  Session s(g);
  EXPECT_EQ(s.run(reduce_sum(y[1]), {{x, Tensor::from<float>({1, 2}, {1, 2})}}).scalar<float>(), 48);
  expect_contains(message_of([&] {
                    while_loop(below, grow, {0, x}, {.shape_invariants = {{}, {3, 2}}});
                  }),
                  "The shape invariant specified for");
}

TEST(WhileLoop, StopsAfterMaximumIterations) {
  Graph g;
  std::vector<Output> y = while_loop([&](const std::vector<Output>&) { return g.constant(true); },
                                     [&](const std::vector<Output>& v) { return std::vector<Output>{v[0] * 2}; },
                                     {g.constant(1)}, {.maximum_iterations = 5});
  EXPECT_EQ(y[0].name(), "while/Exit_1:0");
  EXPECT_EQ(Session(g).run(y[0]).scalar<int32_t>(), 32);
}

TEST(WhileLoop, NestsWithConditions) {  // sum over i < 5 of (sum over j < i of 1 if j is even)
  Graph g;
  using List = std::vector<Output>;
  List y = while_loop([](const List& v) { return less(v[0], 5); },
                      [&](const List& v) {
                        List inner = while_loop([&](const List& w) { return less(w[0], v[0]); },
                                                [&](const List& w) {
                                                  Output even = equal(floormod(w[0], 2), 0);
                                                  Output one = cond(
                                                      even, [&] { return w[1] + 1; }, [&] { return w[1]; });
                                                  return List{w[0] + 1, one};
                                                },
                                                {0, v[1]});
                        return List{v[0] + 1, inner[1]};
                      },
                      {g.constant(0), 0});
  EXPECT_EQ(Session(g).run(y[1]).scalar<int32_t>(), 0 + 1 + 1 + 2 + 2);
}

TEST(WhileLoop, WritesVariables) {
  Graph g;
  using List = std::vector<Output>;
  for (bool resource : {false, true}) {
    Variable v = g.variable("v", 0.f, {.use_resource = resource});
    List y = while_loop([](const List& l) { return less(l[0], 10); },
                        [&](const List& l) {
                          Scope after = g.control_dependencies({assign_add(v, 2.f).op()});
                          return List{l[0] + 1};
                        },
                        {g.constant(0)});
    Session s(g);
    s.run(g.global_variables_initializer());
    EXPECT_EQ(s.run(y[0]).scalar<int32_t>(), 10);
    EXPECT_EQ(s.run(v).scalar<float>(), 20);
  }
}

TEST(WhileLoop, IsEndedByTimeTokenAndClose) {
  Graph g;
  std::vector<Output> y =
      while_loop([&](const std::vector<Output>&) { return g.constant(true); },
                 [&](const std::vector<Output>& v) { return std::vector<Output>{v[0] + 1}; }, {g.constant(1)});
  Session s(g);
  message_of([&] { s.run(y[0], {}, {}, {.timeout = std::chrono::milliseconds(20)}); }, Code::DeadlineExceeded);
  std::stop_source source;
  std::thread ends([&] { source.request_stop(); });
  message_of([&] { s.run(y[0], {}, {}, {.stop = source.get_token()}); }, Code::Cancelled);
  ends.join();
}

TEST(WhileLoop, KeepsItsTensorsInside) {
  Graph g;
  Output inside;
  std::vector<Output> y = while_loop([](const std::vector<Output>& v) { return less(v[0], 3); },
                                     [&](const std::vector<Output>& v) {
                                       inside = v[0] + 1;
                                       return std::vector<Output>{inside};
                                     },
                                     {g.constant(0)});
  expect_contains(message_of([&] { inside + 1; }),
                  "Cannot use 'while/add' as input to 'add' because 'while/add' is in a while loop.");
  Session s(g);
  expect_contains(message_of([&] { s.run(inside); }), "not fetchable");
  expect_contains(message_of([&] { s.run(y[0], {{inside, 3}}); }), "may not be fed");
  EXPECT_EQ(s.run(y[0]).scalar<int32_t>(), 3);
}

TEST(WhileLoop, TracesInnerNodes) {
  Graph g;
  std::vector<Output> y =
      while_loop([](const std::vector<Output>& v) { return less(v[0], 3); },
                 [&](const std::vector<Output>& v) { return std::vector<Output>{v[0] + 1}; }, {g.constant(0)});
  Session s(g);
  RunTrace trace;
  s.run(y[0], {}, {}, {.trace = &trace});
  auto times = [&](const std::string& name) {
    return std::count_if(trace.events.begin(), trace.events.end(), [&](const auto& e) { return e.node == name; });
  };
  EXPECT_EQ(times("while/add"), 3);
  EXPECT_EQ(times("while/Less"), 4);
}

}  // namespace
}  // namespace weir
