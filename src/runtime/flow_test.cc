// How plans run loops.

#include <gtest/gtest.h>

#include <thread>

#include "weir/control_flow.h"
#include "weir/weir.h"

namespace weir {
namespace {

using List = std::vector<Output>;

int count(const RunTrace& trace, std::string_view op) {
  int found = 0;
  for (const RunTrace::Event& event : trace.events) found += event.op == op;
  return found;
}

Tensor numbers(const Shape& shape, float scale) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i % 11 - 5) * scale;
  return t;
}

class Loop : public ::testing::Test {
 protected:
  Output repeat(const Output& first, const std::function<Output(const Output&)>& body) {
    return while_loop([&](const List& v) { return less(v[0], n); },
                      [&](const List& v) {
                        return List{v[0] + 1, body(v[1])};
                      },
                      {0, first})[1];
  }

  Graph g;
  Output n = g.placeholder(int32, {}), w = g.placeholder(float32, {4}), x = g.placeholder(float32, {4});
};

TEST_F(Loop, ComputesWhatAllIterationsShareOnce) {
  Output y = repeat(x, [&](const Output& h) { return h + nn::softmax(w); });
  Session s(g);
  for (float scale : {0.1f, 0.2f}) {  // in every run anew
    for (int times : {0, 1, 5}) {
      RunTrace trace;
      const Tensor ws = numbers({4}, scale), xs = numbers({4}, 1);
      const Tensor got = s.run(y, {{n, times}, {w, ws}, {x, xs}}, {}, {.trace = &trace});
      float sum = 0;
      for (float value : ws.data<float>()) sum += std::exp(value);
      for (int i = 0; i < 4; ++i) {
        const float added = std::exp(ws.data<float>()[i]) / sum;
        EXPECT_NEAR(got.data<float>()[i], xs.data<float>()[i] + static_cast<float>(times) * added, 1e-5);
      }
      EXPECT_EQ(count(trace, "Softmax"), times > 0 ? 1 : 0);
    }
  }
}

TEST_F(Loop, KeepsWhatItSharesApartFromOtherRunsAndFromItsOtherValues) {
  // Enough values of other iterations that memory is used again and again.
  Output y = repeat(x, [&](const Output& h) {
    Output shared = sin(w);
    Output sum = h * 0.5f;
    for (int i = 0; i < 6; ++i) sum = reduce_sum(stack({sum, h * static_cast<float>(i), shared}, 0), {0});
    return tanh(sum) + shared;
  });
  Session s(g);
  SessionOptions plain;
  plain.passes = PassOptions::none();
  Session reference(g, plain);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::vector<Feed> feeds = {
            {n, i % 5}, {w, numbers({4}, 0.1f * static_cast<float>(t + i))}, {x, numbers({4}, 0.3f)}};
        const Tensor got = s.run(y, feeds), wanted = reference.run(y, feeds);
        for (int e = 0; e < 4; ++e) ASSERT_NEAR(got.data<float>()[e], wanted.data<float>()[e], 1e-5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Loop, PacksWeightsOnceForAllItsProducts) {
  Output weights = g.placeholder(float32, {400, 400}), first = g.placeholder(float32, {kUnknown, 400});
  Output y = repeat(first, [&](const Output& h) { return tanh(matmul(h, weights) + 0.1f); });
  Output dw = gradients({reduce_sum(y)}, {weights})[0].dense();
  Session s(g);
  SessionOptions plain;
  plain.passes = PassOptions::none();
  Session reference(g, plain);
  for (int64_t rows : {8, 3, 100}) {
    const std::vector<Feed> feeds = {
        {n, 4}, {weights, numbers({400, 400}, 0.01f)}, {first, numbers({rows, 400}, 0.1f)}};
    RunTrace trace;
    const std::vector<Tensor> got = s.run(List{y, dw}, feeds, {}, {.trace = &trace}),
                              wanted = reference.run(List{y, dw}, feeds);
    for (size_t i = 0; i < got.size(); ++i) {
      for (int64_t e = 0; e < got[i].elements(); ++e) {
        ASSERT_NEAR(got[i].data<float>()[e], wanted[i].data<float>()[e], 1e-3) << i << " " << e;
      }
    }
    EXPECT_EQ(count(trace, "_PackMatrix"), rows <= 64 ? 2 : 0) << rows;  // forwards and, transposed, backwards
  }
}

}  // namespace
}  // namespace weir
