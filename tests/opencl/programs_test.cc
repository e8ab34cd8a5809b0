// Programs on the OpenCL devices of the machine (PoCL's, with WEIR_OPENCL_CPU=1): they give the CPU's results, and the
// same bits every time. Skipped where there is no OpenCL.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "devices/accelerator/accelerator_device.h"
#include "tests/support/device_programs.h"
#include "weir/weir.h"

namespace weir::testing {
namespace {

using accelerator::AcceleratorDevice;

class OnOpenCl : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Before the process looks for devices.
    setenv("WEIR_OPENCL_CPU", "1", 1);
    setenv("POCL_DEVICES", "pthread pthread", 0);
  }
  void SetUp() override {
    if (accelerator::machine_engines().empty()) GTEST_SKIP() << "there is no OpenCL here";
  }
  static SessionOptions options() {
    return {.intra_op_parallelism_threads = 2, .allow_soft_placement = true, .virtual_gpus = {.count = 0}};
  }
};

void expect_close(const Tensor& got, const Tensor& wanted, double tolerance) {
  ASSERT_EQ(got.shape(), wanted.shape());
  ASSERT_EQ(got.dtype(), wanted.dtype());
  if (got.dtype() != float32) {
    EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), got.bytes()), 0) << got.str() << wanted.str();
    return;
  }
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    const double a = static_cast<double>(got.data<float>()[i]), b = static_cast<double>(wanted.data<float>()[i]);
    ASSERT_NEAR(a, b, tolerance * std::max(1.0, std::abs(b))) << "element " << i;
  }
}

TEST_F(OnOpenCl, ProgramsGiveTheResultsOfTheCpuAndTheSameBitsAgain) {
  SessionOptions on_cpu = options();
  on_cpu.device_count = {{"GPU", 0}};
  for (const DeviceProgram& program : device_programs()) {
    SCOPED_TRACE(program.name);
    const auto wanted = program.run([&](Graph& g) { return std::make_unique<Session>(g, on_cpu); });
    const auto got = program.run([&](Graph& g) { return std::make_unique<Session>(g, options()); });
    const auto again = program.run([&](Graph& g) { return std::make_unique<Session>(g, options()); });
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(i);
      expect_close(got[i], wanted[i], 1e-4);
      EXPECT_EQ(std::memcmp(got[i].raw(), again[i].raw(), got[i].bytes()), 0);
    }
  }
}

// Large enough for CLBlast, where it is there.
std::vector<Tensor> large_products(const MakeSession& make) {
  std::vector<Tensor> results;
  for (const bool turned : {false, true}) {
    Graph g;
    const Shape a_shape = turned ? Shape{200, 90} : Shape{90, 200},
                b_shape = turned ? Shape{130, 200} : Shape{200, 130};
    Output a = g.placeholder(float32, a_shape), b = g.placeholder(float32, b_shape);
    Output c = g.placeholder(float32, {3, a_shape[0], a_shape[1]}),
           d = g.placeholder(float32, {3, b_shape[0], b_shape[1]});
    const std::vector<Output> fetches = {nn::relu(matmul(a, b, {.transpose_a = turned, .transpose_b = turned}) + 0.5f),
                                         batch_matmul(c, d, {.adj_x = turned, .adj_y = turned})};
    auto s = make(g);
    for (const Tensor& t : s->run(fetches, {{a, numbers(a_shape)},
                                            {b, numbers(b_shape, 1)},
                                            {c, numbers({3, a_shape[0], a_shape[1]}, 2)},
                                            {d, numbers({3, b_shape[0], b_shape[1]}, 3)}})) {
      results.push_back(t);
    }
  }
  Graph g;  // a convolution that is a product
  const Shape image = {4, 16, 16, 64}, filter = {1, 1, 64, 48};
  Output x = g.placeholder(float32, image), w = g.placeholder(float32, filter);
  Output y = nn::conv2d(x, w);
  std::vector<Output> fetches = {y};
  for (const Gradient& grad : gradients({reduce_sum(square(y))}, {x, w})) fetches.push_back(grad.dense());
  auto s = make(g);
  for (const Tensor& t : s->run(fetches, {{x, numbers(image)}, {w, numbers(filter, 3)}})) results.push_back(t);
  return results;
}

TEST_F(OnOpenCl, LargeProductsAreTheCpusUpToRounding) {
  SessionOptions on_cpu = options();
  on_cpu.device_count = {{"GPU", 0}};
  const auto wanted = large_products([&](Graph& g) { return std::make_unique<Session>(g, on_cpu); });
  const auto got = large_products([&](Graph& g) { return std::make_unique<Session>(g, options()); });
  const auto again = large_products([&](Graph& g) { return std::make_unique<Session>(g, options()); });
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    expect_close(got[i], wanted[i], 1e-3);
    EXPECT_EQ(std::memcmp(got[i].raw(), again[i].raw(), got[i].bytes()), 0);
  }
}

TEST_F(OnOpenCl, TracesShowTheDevicesOwnTimes) {
  Graph g;
  Output x = g.placeholder(float32, {32, 32}), y = x;
  for (int i = 0; i < 10; ++i) y = matmul(y, x);
  Session s(g, options());
  RunTrace trace;
  s.run(y, {{x, numbers({32, 32})}}, {}, {.trace = &trace});
  int64_t last = 0, products = 0;
  for (const RunTrace::Event& event : trace.events) {
    if (event.op != "MatMul") continue;
    ++products;
    EXPECT_GE(event.start_ns, last);  // one after the other
    EXPECT_GT(event.end_ns, event.start_ns);
    last = event.end_ns;
  }
  EXPECT_EQ(products, 10);
}

// Copies that go beside the kernels, in pieces and with other kernels before and after them.
TEST_F(OnOpenCl, LargeValuesComeAndGoWhole) {
  SessionOptions on_cpu = options();
  on_cpu.device_count = {{"GPU", 0}};
  Graph g;
  const Shape shape = {300, 5000};  // 6 MB
  Output x = g.placeholder(float32, shape), y = x, z;
  {
    Scope scope = g.device("/gpu:0");
    y = x * 2.f + 1.f;
  }
  {
    Scope scope = g.device("/gpu:1");
    z = y * y;
  }
  Session s(g, options()), host(g, on_cpu);
  for (int i = 0; i < 3; ++i) {
    const Tensor in = numbers(shape, i);
    const auto got = s.run({y, z}, {{x, in}}), wanted = host.run({y, z}, {{x, in}});
    expect_close(got[0], wanted[0], 1e-6);
    expect_close(got[1], wanted[1], 1e-6);
  }
}

}  // namespace
}  // namespace weir::testing
