#include <gtest/gtest.h>

#include <algorithm>

#include "weir/weir.h"

namespace weir {
namespace {

class Trace : public ::testing::Test {
 protected:
  // The event of the node after a traced run.
  RunTrace::Event run(const Output& fetch, const std::vector<Feed>& feeds, std::string_view node) {
    Session session(g);
    if (!g.global_variables().empty()) session.run(g.global_variables_initializer());
    RunTrace trace;
    session.run(fetch, feeds, {}, {.trace = &trace});
    auto found = std::ranges::find(trace.events, node, &RunTrace::Event::node);
    if (found == trace.events.end()) throw std::runtime_error("no such event");
    return *found;
  }
  Graph g;
};

TEST_F(Trace, CountsTheWorkOfAProduct) {
  Output a = g.placeholder(float32, {3, 5}), b = g.placeholder(float32, {7, 5});
  const auto event = run(matmul(a, b, {.transpose_b = true}, "product"),
                         {{a, Tensor::zeros(float32, {3, 5})}, {b, Tensor::zeros(float32, {7, 5})}}, "product");
  EXPECT_DOUBLE_EQ(event.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(event.input_bytes, 4 * (3 * 5 + 7 * 5));
  EXPECT_EQ(event.output_bytes, 4 * 3 * 7);
}

TEST_F(Trace, CountsTheWorkOfAConvolutionAndItsGradients) {
  Output x = g.placeholder(float32, {2, 8, 8, 3}), f = g.placeholder(float32, {3, 3, 3, 4});
  Output y = nn::conv2d(x, f, {}, "conv");
  std::vector<Gradient> grads = gradients({y}, {x, f});
  const std::vector<Feed> feeds = {{x, Tensor::zeros(float32, {2, 8, 8, 3})},
                                   {f, Tensor::zeros(float32, {3, 3, 3, 4})}};
  constexpr double kFlops = 2.0 * (2 * 8 * 8) * (3 * 3 * 3) * 4;
  EXPECT_DOUBLE_EQ(run(y, feeds, "conv").flops, kFlops);
  for (const Gradient& grad : grads) {
    EXPECT_DOUBLE_EQ(run(grad.dense(), feeds, grad.dense().op().name()).flops, kFlops);
  }
}

TEST_F(Trace, CountsOnlyTheRowsOfATableThatAreUsed) {
  Output table = g.placeholder(float32, {1000, 8}), at = g.placeholder(int32, {3});
  const auto event = run(gather(table, at, 0, "rows"),
                         {{table, Tensor::zeros(float32, {1000, 8})}, {at, Tensor::zeros(int32, {3})}}, "rows");
  EXPECT_EQ(event.output_bytes, 4 * 3 * 8);
  EXPECT_LE(event.input_bytes, 4 * (3 * 8 + 3 + 1));
}

TEST_F(Trace, CountsTheVariablesThatAnUpdateReads) {
  Variable w = g.variable("w", Tensor::zeros(float32, {100}));
  Output x = g.placeholder(float32, {100});
  const auto event = run(assign_add(w, x, "step"), {{x, Tensor::zeros(float32, {100})}}, "step");
  EXPECT_EQ(event.input_bytes, 2 * 400);
}

TEST(TraceTable, SortsNodesByTimeAndAddsUpCalls) {
  RunTrace trace;
  trace.events = {{.node = "quick",
                   .op = "Neg",
                   .device = "cpu",
                   .start_ns = 0,
                   .end_ns = 1000,
                   .output_bytes = 4000,
                   .input_bytes = 4000},
                  {.node = "product", .op = "MatMul", .device = "cpu", .start_ns = 2000, .end_ns = 5000, .flops = 6e5},
                  {.node = "loop", .op = "Add", .device = "cpu", .start_ns = 5000, .end_ns = 7000},
                  {.node = "loop", .op = "Add", .device = "cpu", .start_ns = 7000, .end_ns = 11000}};
  const std::string table = trace.table();
  const size_t loop = table.find("loop (2 times)"), product = table.find("product"), quick = table.find("quick");
  ASSERT_NE(loop, std::string::npos) << table;
  EXPECT_LT(loop, product);
  EXPECT_LT(product, quick);
  EXPECT_NE(table.find("6.0 us   60.0%"), std::string::npos) << table;
  EXPECT_NE(table.find("200.0 GFLOP/s  MatMul"), std::string::npos) << table;
  EXPECT_NE(table.find("8.0 GB/s  Neg"), std::string::npos) << table;
  EXPECT_NE(table.find("10.0 us in 4 kernels, 11.0 us from the first to the last"), std::string::npos) << table;
  EXPECT_EQ(table.find(" on cpu"), std::string::npos) << "one device needs no name\n" << table;
}

TEST(TraceTable, NamesDevicesWhenThereAreSeveral) {
  RunTrace trace;
  trace.events = {{.node = "a", .op = "Neg", .device = "cpu", .end_ns = 1},
                  {.node = "a", .op = "Neg", .device = "gpu"}};
  EXPECT_NE(trace.table().find("a on cpu"), std::string::npos);
  EXPECT_NE(trace.table().find("a on gpu"), std::string::npos);
}

TEST(TraceTable, CountsWhatRunsInsideALoopOnce) {
  RunTrace trace;
  trace.events = {{.node = "inside", .op = "Neg", .device = "cpu", .start_ns = 1000, .end_ns = 4000},
                  {.node = "inside", .op = "Neg", .device = "cpu", .start_ns = 4000, .end_ns = 7000},
                  {.node = "loop", .op = "While", .device = "cpu", .start_ns = 0, .end_ns = 8000}};
  const std::string table = trace.table();
  EXPECT_NE(table.find("6.0 us   75.0%"), std::string::npos) << table;
  EXPECT_NE(table.find("2.0 us   25.0%"), std::string::npos) << table;
}

TEST(TraceTable, SaysHowLongEachDeviceComputesCopiesAndWaits) {
  RunTrace trace;
  trace.events = {
      {.node = "a", .op = "Neg", .device = "cpu", .thread = 0, .start_ns = 0, .end_ns = 6000},
      {.node = "a/_copy:gpu", .op = "_Copy", .device = "cpu", .thread = 0, .start_ns = 6000, .end_ns = 7000},
      {.node = "b", .op = "Neg", .device = "gpu", .thread = 1, .start_ns = 7500, .end_ns = 10000}};
  const std::string table = trace.table();
  EXPECT_NE(table.find("cpu: 60.0% kernels, 10.0% copies, 30.0% waiting"), std::string::npos) << table;
  EXPECT_NE(table.find("gpu: 25.0% kernels, 0.0% copies, 75.0% waiting"), std::string::npos) << table;
}

TEST(TraceTable, OfAnEmptyTraceHasNoRows) {
  EXPECT_NE(RunTrace().table().find("0.0 us in 0 kernels"), std::string::npos);
}

}  // namespace
}  // namespace weir
