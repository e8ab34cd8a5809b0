#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "graph/functions.h"
#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::expect_error;
using Floats = std::vector<float>;

Floats floats_of(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

// x + 1, and how many rows the function got.
FunctionName add_one(Graph& g) {
  const FunctionArgument vector[] = {{float32, {kUnknown}}};
  auto make = [](const std::vector<Output>& args) {
    return std::vector<Output>{args[0] + 1.f, zeros_like(args[0]) + cast(size(args[0]), float32)};
  };
  return {trace_function(g, "add_one", vector, make).name, {}};
}

AttrMap limits(int64_t max_size, int64_t timeout_us, std::vector<int64_t> allowed = {}) {
  return {{"num_batch_threads", int64_t{1}},
          {"max_batch_size", max_size},
          {"batch_timeout_micros", timeout_us},
          {"allowed_batch_sizes", std::move(allowed)}};
}

Operation batch_function(Graph& g, const Output& x, AttrMap attrs) {
  attrs.set("f", add_one(g));
  attrs.set("Tin", std::vector<DType>{float32});
  attrs.set("Tcaptured", std::vector<DType>{});
  attrs.set("Tout", std::vector<DType>{float32, float32});
  return g.add({.op = "BatchFunction", .inputs = {x}, .attrs = std::move(attrs)});
}

// Runs at the same time, with the vectors {0, 0}, {1, 1}, ...
template <class Run>
void run_together(int count, const Run& run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&run, i] { run(static_cast<float>(i)); });
  for (std::thread& thread : threads) thread.join();
}

TEST(BatchFunction, CallsItsFunctionOnceForSeveralRuns) {
  Graph g;
  const Output x = g.placeholder(float32, {kUnknown});
  // An hour: the batch is processed because it is full.
  const Operation op = batch_function(g, x, limits(8, int64_t{3600} * 1000000));
  Session session(g);
  run_together(4, [&](float i) {
    auto [sum, rows] = session.run({op.output(0), op.output(1)}, {{x, Floats{i, i}}});
    EXPECT_EQ(floats_of(sum), (Floats{i + 1, i + 1}));
    EXPECT_EQ(floats_of(rows), (Floats{8, 8}));
  });
}

TEST(BatchFunction, FillsBatchesUpToAnAllowedSize) {
  Graph g;
  const Output x = g.placeholder(float32, {kUnknown});
  const Operation op = batch_function(g, x, limits(8, 0, {4, 8}));
  Session session(g);
  auto [sum, rows] = session.run({op.output(0), op.output(1)}, {{x, Floats{1, 2, 3}}});
  EXPECT_EQ(floats_of(sum), (Floats{2, 3, 4}));
  EXPECT_EQ(floats_of(rows), (Floats{4, 4, 4}));
}

TEST(BatchFunction, SaysWhatIsWrong) {
  Graph g;
  const Output x = g.placeholder(float32, Shape::unknown());
  Session session(g);
  auto run = [&](AttrMap attrs, Tensor value) {
    const Output y = batch_function(g, x, std::move(attrs)).output(0);
    return [&session, &x, y, value] { session.run(y, {{x, value}}); };
  };
  expect_error(run(limits(2, 0), Tensor(Floats{1, 2, 3})), Code::InvalidArgument, "larger than maximum batch size");
  expect_error(run(limits(2, 0), Tensor(1.0f)), Code::InvalidArgument, "at least one dimension");
  expect_error(run(limits(0, 0), Tensor(Floats{1})), Code::InvalidArgument, "max_batch_size must be positive");
  expect_error(run(limits(4, -1), Tensor(Floats{1})), Code::InvalidArgument, "non-negative");
  expect_error(run(limits(4, 0, {2, 3}), Tensor(Floats{1})), Code::InvalidArgument, "must equal max_batch_size");
  const Output late = batch_function(g, x, limits(4, int64_t{3600} * 1000000)).output(0);
  expect_error(
      [&] {
        session.run(late, {{x, Tensor(Floats{1})}}, {}, {.timeout = std::chrono::milliseconds(20)});
      },
      Code::DeadlineExceeded, "");
}

// A batch goes through the graph in one of the runs; all get their rows back, and their gradients.
TEST(Unbatch, GivesEveryRunItsOwnRowsAndGradients) {
  Graph g;
  const Output x = g.placeholder(float32, {kUnknown});
  AttrMap attrs = limits(6, int64_t{3600} * 1000000);
  attrs.set("grad_timeout_micros", int64_t{60} * 1000000);
  const Operation batch = g.add({.op = "Batch", .inputs = {x}, .attrs = attrs});
  const Output squared = square(batch.output(0));
  const Output back = g.add({.op = "Unbatch",
                             .inputs = {squared, batch.output(1), batch.output(2)},
                             .attrs = {{"timeout_micros", int64_t{60} * 1000000}}})
                          .output();
  EXPECT_EQ(batch.output(1).shape(), (Shape{kUnknown, 3}));
  const Output gradient = gradients({back}, {x})[0].dense();
  Session session(g);
  std::atomic<int> leaders = 0;
  run_together(3, [&](float i) {
    auto [rows, grad, index] = session.run({back, gradient, batch.output(1)}, {{x, Floats{i, i + 1}}});
    EXPECT_EQ(floats_of(rows), (Floats{i * i, (i + 1) * (i + 1)}));
    EXPECT_EQ(floats_of(grad), (Floats{2 * i, 2 * (i + 1)}));
    leaders += index.shape()[0] > 0 ? 1 : 0;
  });
  EXPECT_EQ(leaders, 1);
}

TEST(Unbatch, EndsWhenNobodyBringsItsRows) {
  Graph g;
  const Output empty = g.constant(Tensor(Floats{})),
               nobody = reshape(g.constant(Tensor(std::vector<int64_t>{})), {0, 3});
  auto unbatch = [&](const Output& index) {
    return g
        .add({.op = "Unbatch",
              .inputs = {empty, index, g.constant(Tensor(int64_t{7}))},
              .attrs = {{"timeout_micros", int64_t{1000}}}})
        .output();
  };
  Session session(g);
  expect_error([&] { session.run(unbatch(nobody)); }, Code::DeadlineExceeded, "did not arrive within timeout");
  const Output outside = reshape(g.constant(Tensor(std::vector<int64_t>{7, 0, 5})), {1, 3});
  expect_error([&] { session.run(unbatch(outside)); }, Code::InvalidArgument, "[0, 5)");
}

}  // namespace
}  // namespace weir
