// Gradients of cond and while_loop. Values are TensorFlow 1.15.5's.

#include <gtest/gtest.h>

#include "weir/control_flow.h"
#include "weir/weir.h"

namespace weir {
namespace {

using List = std::vector<Output>;

std::vector<float> floats(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

Output grad(const Output& y, const Output& x) { return gradients({y}, {x})[0].dense(); }

TEST(CondGradient, IsThatOfTheBranchTaken) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2}), z = g.placeholder(float32, {2});
  Output y = cond(
      p, [&] { return exp(x * 2) * z; }, [&] { return square(x); });
  Output dx = grad(y, x), dz = grad(y, z);
  Session s(g);
  Tensor xs = std::vector<float>{0.5f, 1}, zs = std::vector<float>{3, 4};
  std::vector<float> t = floats(s.run(dx, {{p, true}, {x, xs}, {z, zs}}));
  EXPECT_NEAR(t[0], 2 * 3 * std::exp(1.f), 1e-4);
  EXPECT_NEAR(t[1], 2 * 4 * std::exp(2.f), 1e-4);
  EXPECT_EQ(floats(s.run(dx, {{p, false}, {x, xs}, {z, zs}})), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats(s.run(dz, {{p, false}, {x, xs}, {z, zs}})), (std::vector<float>{0, 0}));
}

TEST(CondGradient, IsNoneWhereNoBranchDependsOnIt) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2}), z = g.placeholder(float32, {2});
  Output y = cond(
      p, [&] { return x + stop_gradient(z); }, [&] { return x * 2; });
  std::vector<Gradient> grads = gradients({y}, {x, z});
  EXPECT_FALSE(grads[0].none());
  EXPECT_TRUE(grads[1].none());
}

TEST(CondGradient, CountsATensorOnceThatIsReadDirectlyAndThroughAnother) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {});
  Output h = x * x;
  Output y = cond(
      p, [&] { return h * x; }, [&] { return h + x; });
  Output dx = grad(y, x);
  Session s(g);
  EXPECT_EQ(s.run(dx, {{p, true}, {x, 2.f}}).scalar<float>(), 12);
  EXPECT_EQ(s.run(dx, {{p, false}, {x, 2.f}}).scalar<float>(), 5);
}

// The gradient of a sum asks for the shape of what was summed, which is known without it.
TEST(CondGradient, NeedsNoValuesWhereShapesServe) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {kUnknown});
  Output y = cond(
      p, [&] { return reduce_sum(log(square(x) + 1.f)); }, [&] { return reduce_sum(exp(x)); });
  Output dx = grad(y, x);
  Session s(g);
  const Tensor xs = std::vector<float>{1, 2, 3};
  RunTrace trace;
  EXPECT_FLOAT_EQ(s.run(dx, {{p, true}, {x, xs}}, {}, {.trace = &trace}).data<float>()[1], 0.8f);
  for (const RunTrace::Event& event : trace.events) {
    EXPECT_NE(event.op, "Log");
    EXPECT_NE(event.op, "Sum");
  }
  EXPECT_EQ(trace.events.size(), 4u);  // two Ifs, and in each what is left of its branch
  EXPECT_FLOAT_EQ(s.run(dx, {{p, false}, {x, xs}}).data<float>()[2], std::exp(3.f));
}

TEST(CondGradient, DrawsNothingTwice) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {64});
  Output y = cond(
      p, [&] { return nn::dropout(x, 0.5f); }, [&] { return x; });
  Output dx = grad(y, x);
  Session s(g);
  Tensor ones = std::vector<float>(64, 1);
  for (int i = 0; i < 3; ++i) {
    auto [value, slope] = s.run({y, dx}, {{p, true}, {x, ones}});
    EXPECT_EQ(floats(value), floats(slope));  // both are the mask
  }
}

TEST(CondGradient, HasSecondOrder) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {});
  Output y = cond(
      p, [&] { return x * x * x; }, [&] { return x * x; });
  Output second = grad(grad(y, x), x);
  Session s(g);
  EXPECT_EQ(s.run(second, {{p, true}, {x, 2.f}}).scalar<float>(), 12);
  EXPECT_EQ(s.run(second, {{p, false}, {x, 2.f}}).scalar<float>(), 2);
}

TEST(CondGradient, ReachesVariablesOfBothKindsAndRowsOfThem) {
  for (bool resource : {false, true}) {
    Graph g;
    Output p = g.placeholder(boolean, {});
    Variable w = g.variable("w", std::vector<float>{1, 2, 3}, {.use_resource = resource});
    Output y = cond(
        p,
        [&] {
          Output read = resource ? NodeBuilder("ReadVariableOp").input(w.handle()).attr("dtype", float32).output()
                                 : identity(w.handle());
          return reduce_sum(read * read);
        },
        [&] {
          return reduce_sum(gather(w.value(), {2, 2}));
        });
    Output dw = gradients({y}, {w.handle()})[0].dense();
    Session s(g);
    s.run(g.global_variables_initializer());
    EXPECT_EQ(floats(s.run(dw, {{p, true}})), (std::vector<float>{2, 4, 6})) << resource;
    EXPECT_EQ(floats(s.run(dw, {{p, false}})), (std::vector<float>{0, 0, 2})) << resource;
  }
}

TEST(CondGradient, OfNestedBranches) {
  Graph g;
  Output p = g.placeholder(boolean, {}), q = g.placeholder(boolean, {}), x = g.placeholder(float32, {});
  Output y = cond(
      p,
      [&] {
        Output h = exp(x);
        return cond(
                   q, [&] { return h * h; }, [&] { return sin(h); }) *
               x;
      },
      [&] { return x; });
  Output dx = grad(y, x);
  Session s(g);
  double v = 0.3, e = std::exp(v);
  EXPECT_NEAR(s.run(dx, {{p, true}, {q, true}, {x, 0.3f}}).scalar<float>(), e * e + 2 * e * e * v, 1e-5);
  EXPECT_NEAR(s.run(dx, {{p, true}, {q, false}, {x, 0.3f}}).scalar<float>(), std::sin(e) + std::cos(e) * e * v, 1e-5);
  EXPECT_EQ(s.run(dx, {{p, false}, {q, false}, {x, 0.3f}}).scalar<float>(), 1);
}

TEST(WhileGradient, OfPowers) {
  Graph g;
  Output n = g.placeholder(int32, {}), x = g.placeholder(float32, {2});
  List y = while_loop([&](const List& v) { return less(v[0], n); },
                      [&](const List& v) {
                        return List{v[0] + 1, v[1] * x};
                      },
                      {0, x});
  Output dx = grad(y[1], x);
  Session s(g);
  Tensor xs = std::vector<float>{1, 2};
  EXPECT_EQ(floats(s.run(dx, {{n, 3}, {x, xs}})), (std::vector<float>{4, 32}));
  EXPECT_EQ(floats(s.run(dx, {{n, 0}, {x, xs}})), (std::vector<float>{1, 1}));
  EXPECT_EQ(floats(s.run(dx, {{n, 1}, {x, xs}})), (std::vector<float>{2, 4}));
}

TEST(WhileGradient, CanBeAskedForTwiceAndKeepsNothingInRunsWithoutIt) {
  Graph g;
  Output n = g.placeholder(int32, {}), x = g.placeholder(float32, {});
  List y = while_loop([&](const List& v) { return less(v[0], n); },
                      [&](const List& v) {
                        return List{v[0] + 1, sin(v[1])};
                      },
                      {0, x});
  Output first = grad(y[1], x), second = grad(y[1] * 2, x);
  Session s(g);
  auto [a, b] = s.run({first, second}, {{n, 2}, {x, 0.5f}});
  float expected = std::cos(std::sin(0.5f)) * std::cos(0.5f);
  EXPECT_NEAR(a.scalar<float>(), expected, 1e-6);
  EXPECT_NEAR(b.scalar<float>(), 2 * expected, 1e-6);
  RunTrace trace;
  s.run(y[1], {{n, 2}, {x, 0.5f}}, {}, {.trace = &trace});
  for (const RunTrace::Event& event : trace.events) EXPECT_NE(event.op, "TensorListPushBack");
}

TEST(WhileGradient, TrainsThroughVariablesAndUnknownBatch) {  // h = tanh(h w), three times
  for (bool resource : {false, true}) {
    Graph g;
    Output x = g.placeholder(float32, {kUnknown, 2});
    Variable w =
        g.variable("w", Tensor::from<float>({0.5f, -0.25f, 0.125f, 0.75f}, {2, 2}), {.use_resource = resource});
    List y = while_loop([&](const List& v) { return less(v[0], 3); },
                        [&](const List& v) {
                          return List{v[0] + 1, tanh(matmul(v[1], w))};
                        },
                        {0, x});
    Output loss = reduce_sum(square(y[1]));
    std::vector<Gradient> grads = gradients({loss}, {w.handle(), x});
    Session s(g);
    s.run(g.global_variables_initializer());
    Tensor xs = Tensor::from<float>({1, 2, -0.5f, 0.25f, 0, 1}, {3, 2});
    auto [dw, dx] = s.run({grads[0].dense(), grads[1].dense()}, {{x, xs}});
    // The same, unrolled.
    Output h = x;
    for (int i = 0; i < 3; ++i) h = tanh(matmul(h, w));
    std::vector<Gradient> unrolled = gradients({reduce_sum(square(h))}, {w.handle(), x});
    auto [ew, ex] = s.run({unrolled[0].dense(), unrolled[1].dense()}, {{x, xs}});
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(floats(dw)[i], floats(ew)[i], 1e-5);
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(floats(dx)[i], floats(ex)[i], 1e-5);
  }
}

TEST(WhileGradient, OfLoopsWithBranchesInThem) {  // x -> x * x in even iterations, sin(x) in odd ones
  Graph g;
  Output n = g.placeholder(int32, {}), x = g.placeholder(float32, {});
  List y = while_loop([&](const List& v) { return less(v[0], n); },
                      [&](const List& v) {
                        Output even = equal(floormod(v[0], 2), 0);
                        return List{v[0] + 1, cond(
                                                  even, [&] { return v[1] * v[1]; }, [&] { return sin(v[1]); })};
                      },
                      {0, x});
  Output dx = grad(y[1], x);
  Session s(g);
  auto value = [](double v, int steps) {
    for (int i = 0; i < steps; ++i) v = i % 2 == 0 ? v * v : std::sin(v);
    return v;
  };
  for (int steps : {0, 1, 2, 3, 4}) {
    double expected = (value(0.8 + 1e-6, steps) - value(0.8 - 1e-6, steps)) / 2e-6;
    EXPECT_NEAR(s.run(dx, {{n, steps}, {x, 0.8f}}).scalar<float>(), expected, 1e-4) << steps;
  }
}

TEST(WhileGradient, OfNestedLoopsAndLoopsInBranches) {  // for i < 3: for j <= i: x = sin(x * w)
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {}), w = g.placeholder(float32, {});
  Output y = cond(
      p,
      [&] {
        return while_loop([&](const List& v) { return less(v[0], 3); },
                          [&](const List& v) {
                            List inner = while_loop([&](const List& u) { return less_equal(u[0], v[0]); },
                                                    [&](const List& u) {
                                                      return List{u[0] + 1, sin(u[1] * w)};
                                                    },
                                                    {0, v[1]});
                            return List{v[0] + 1, inner[1]};
                          },
                          {0, x})[1];
      },
      [&] { return x * w; });
  std::vector<Gradient> grads = gradients({y}, {x, w});
  Session s(g);
  auto value = [](double v, double k) {
    for (int i = 0; i < 6; ++i) v = std::sin(v * k);
    return v;
  };
  auto [dx, dw] = s.run({grads[0].dense(), grads[1].dense()}, {{p, true}, {x, 0.7f}, {w, 1.3f}});
  EXPECT_NEAR(dx.scalar<float>(), (value(0.7 + 1e-6, 1.3) - value(0.7 - 1e-6, 1.3)) / 2e-6, 1e-4);
  EXPECT_NEAR(dw.scalar<float>(), (value(0.7, 1.3 + 1e-6) - value(0.7, 1.3 - 1e-6)) / 2e-6, 1e-4);
  auto [ex, ew] = s.run({grads[0].dense(), grads[1].dense()}, {{p, false}, {x, 0.7f}, {w, 1.3f}});
  EXPECT_EQ(ex.scalar<float>(), 1.3f);
  EXPECT_EQ(ew.scalar<float>(), 0.7f);
}

TEST(WhileGradient, OfShapesThatChange) {
  Graph g;
  Output x = g.placeholder(float32, {1, 2});
  List y = while_loop([](const List& v) { return less(v[0], 3); },
                      [&](const List& v) {
                        return List{v[0] + 1, concat({v[1], v[1] * v[1]}, 0)};
                      },
                      {0, x}, {.shape_invariants = {{}, {kUnknown, 2}}});
  Output dx = grad(y[1], x);
  Session s(g);
  // Powers 1, 2, 2, 4, 2, 4, 4, 8 of x.
  EXPECT_EQ(floats(s.run(dx, {{x, Tensor::from<float>({1, 2}, {1, 2})}})),
            (std::vector<float>{27, 1 + 3 * 4 + 3 * 32 + 1024}));
}

TEST(WhileGradient, IsNoneWithoutBackPropAndRefusedTwice) {
  Graph g;
  Output x = g.placeholder(float32, {});
  auto loop = [&](bool back_prop) {
    return while_loop([](const List& v) { return less(v[0], 3); },
                      [&](const List& v) {
                        return List{v[0] + 1, v[1] * v[1]};
                      },
                      {0, x}, {.back_prop = back_prop})[1];
  };
  EXPECT_TRUE(gradients({loop(false)}, {x})[0].none());
  Output dx = grad(loop(true), x);
  try {
    grad(dx, x);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unimplemented);
    EXPECT_NE(std::string(e.what()).find("Second-order gradient for while loops not supported."), std::string::npos);
  }
}

TEST(WhileGradient, DestroysLongListsWithoutRecursion) {
  Graph g;
  Output n = g.placeholder(int32, {}), x = g.placeholder(float32, {});
  List y = while_loop([&](const List& v) { return less(v[0], n); },
                      [&](const List& v) {
                        return List{v[0] + 1, v[1] * x};
                      },
                      {0, x});
  Session s(g);
  EXPECT_NEAR(s.run(grad(y[1], x), {{n, 200000}, {x, 1.f}}).scalar<float>(), 200001, 1);
}

// h = tanh(h w + b) again and again: the gradient of w is one product after the loop.
TEST(WhileGradient, OfWeightsIsOneProductOverAllIterations) {
  Graph g;
  Output n = g.placeholder(int32, {}), x = g.placeholder(float32, {kUnknown, 3}), w = g.placeholder(float32, {3, 3});
  Output b = g.placeholder(float32, {3});
  auto advance = [&](const Output& h) { return tanh(matmul(h, w) + b); };
  List loop = while_loop([&](const List& v) { return less(v[0], n); },
                         [&](const List& v) {
                           return List{v[0] + 1, advance(v[1]) + matmul(v[1], w) * 0.1f};
                         },
                         {0, x});
  std::vector<Gradient> grads = gradients({reduce_sum(square(loop[1]))}, {w, b});
  Output dw = grads[0].dense(), db = grads[1].dense();
  Session s(g);
  for (int count : {0, 1, 4}) {
    Output h = x;
    for (int i = 0; i < count; ++i) h = advance(h) + matmul(h, w) * 0.1f;
    Output loss = reduce_sum(square(h));
    for (int64_t rows : {1, 5}) {
      Tensor xs(float32, {rows, 3}), ws(float32, {3, 3});
      for (int64_t i = 0; i < rows * 3; ++i) xs.mutable_data<float>()[i] = std::sin(static_cast<float>(i));
      for (int64_t i = 0; i < 9; ++i) ws.mutable_data<float>()[i] = std::cos(static_cast<float>(2 * i));
      const std::vector<Feed> feeds = {{n, count}, {x, xs}, {w, ws}, {b, std::vector<float>{0.1f, -0.2f, 0.3f}}};
      RunTrace trace;
      const std::vector<Tensor> got = s.run(List{dw, db}, feeds, {}, {.trace = &trace});
      if (count == 0) {
        EXPECT_EQ(floats(got[0]), std::vector<float>(9));
        continue;
      }
      const std::vector<Tensor> wanted = s.run(List{grad(loss, w), grad(loss, b)}, feeds);
      for (int64_t i = 0; i < 9; ++i) EXPECT_NEAR(got[0].data<float>()[i], wanted[0].data<float>()[i], 1e-4) << i;
      for (int64_t i = 0; i < 3; ++i) EXPECT_NEAR(got[1].data<float>()[i], wanted[1].data<float>()[i], 1e-4) << i;
      // Forward, where both are one, twice to the state, and after the loop twice to the weights.
      int products = 0, lists = 0;
      for (const RunTrace::Event& event : trace.events) {
        products += event.op == "MatMul" || event.op == "_FusedMatMul";
        lists += event.op == "TensorListConcat";
      }
      EXPECT_EQ(products, 3 * count + 2);
      EXPECT_GE(lists, 3);
    }
  }
}

// Shapes that only the run of a session knows are known to its plans, also behind the lists of a loop's gradient.
TEST(WhileGradient, KnowsTheShapesOfWhatItReadsBack) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 2}), scale = g.placeholder(float32, {2});
  List loop = while_loop([&](const List& v) { return less(v[0], 3); },
                         [&](const List& v) {
                           return List{v[0] + 1, sigmoid(v[1] * scale + x) * tanh(v[1])};
                         },
                         {0, x});
  Output dx = grad(reduce_sum(loop[1]), x);
  Session s(g);
  RunTrace trace;
  const Tensor value =
      s.run(dx, {{x, Tensor::zeros(float32, {5, 2})}, {scale, std::vector<float>{1, 2}}}, {}, {.trace = &trace});
  EXPECT_EQ(value.shape(), Shape({5, 2}));
  int fused = 0;
  for (const RunTrace::Event& event : trace.events) {
    EXPECT_NE(event.op, "BroadcastGradientArgs");
    EXPECT_NE(event.op, "Reshape");
    fused += event.op == "_FusedElementwise" || event.op == "_FusedLoop";
  }
  EXPECT_EQ(fused, 6);  // one each way in each iteration
}

}  // namespace
}  // namespace weir
