// The CUDA driver's host side, on a stand-in for libcuda and NVRTC: what it computes, in which order, and how it fails.
// Needs the system's C++ compiler when the tests run; its kernels are the plain C++ form of the texts.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "devices/accelerator/accelerator_device.h"
#include "devices/cuda/cuda_driver.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/support/device_programs.h"
#include "weir/weir.h"

namespace weir::testing {
namespace {

using accelerator::AcceleratorDevice;
using accelerator::Engine;
using accelerator::KernelCache;
using accelerator::Language;

// The devices of a stand-in, for the sessions that this thread makes.
class Gpus {
 public:
  explicit Gpus(const CudaStandIn::Options& options = {}, double fraction = 1, const cuda::Libraries& libraries = {},
                const accelerator::Transfers::Options& transfers = {})
      : stand_in_(options) {
    for (const auto& driver : cuda::find_drivers(stand_in_.api(), libraries)) {
      auto engine = std::make_shared<Engine>(driver, Language::Cpp, KernelCache(KernelCache::default_folder()));
      const auto number = static_cast<int>(devices_.size());
      devices_.push_back(std::make_shared<AcceleratorDevice>(
          number, engine,
          accelerator::AcceleratorOptions{.memory_fraction = fraction, .allow_growth = true, .transfers = transfers}));
    }
    more_.emplace(std::vector<std::shared_ptr<const Device>>(devices_.begin(), devices_.end()));
  }
  CudaStandIn& stand_in() { return stand_in_; }
  AcceleratorDevice& operator[](size_t i) { return *devices_[i]; }
  size_t size() const { return devices_.size(); }

 private:
  CudaStandIn stand_in_;
  std::vector<std::shared_ptr<AcceleratorDevice>> devices_;
  std::optional<MoreDevices> more_;
};

SessionOptions soft() {
  return {.intra_op_parallelism_threads = 2, .allow_soft_placement = true, .virtual_gpus = {.count = 0}};
}
std::unique_ptr<Session> make_session(Graph& g) { return std::make_unique<Session>(g, soft()); }

void expect_close(const Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(got.shape(), wanted.shape());
  if (got.dtype() != float32) {
    EXPECT_EQ(std::memcmp(got.raw(), wanted.raw(), got.bytes()), 0) << got.str() << wanted.str();
    return;
  }
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    const double a = static_cast<double>(got.data<float>()[i]), b = static_cast<double>(wanted.data<float>()[i]);
    ASSERT_NEAR(a, b, 1e-4 * std::max(1.0, std::abs(b))) << "element " << i;
  }
}

// A^4 on one device, B^4 on another, the sum on the first.
std::vector<Tensor> powers(const MakeSession& make) {
  Graph g;
  Output a = g.placeholder(float32, {48, 48}), b = g.placeholder(float32, {48, 48});
  auto power = [](Output x, const char*) {
    Output y = x;
    for (int i = 0; i < 3; ++i) y = matmul(y, x);
    return y;
  };
  Output p, q, sum;
  {
    Scope scope = g.device("/gpu:0");
    p = power(a, "a");
  }
  {
    Scope scope = g.device("/gpu:1");
    q = power(b, "b");
  }
  {
    Scope scope = g.device("/gpu:0");
    sum = p + q;
  }
  auto s = make(g);
  std::vector<Tensor> results;
  for (int i = 0; i < 3; ++i)
    results.push_back(s->run(sum, {{a, numbers({48, 48}, i)}, {b, numbers({48, 48}, i + 9)}}));
  return results;
}

// A tower on each of two devices, the variables on the first, gradients averaged.
std::vector<Tensor> towers(const MakeSession& make) {
  Graph g;
  g.set_random_seed(4);
  Variable w, u;
  {
    Scope scope = g.device("/gpu:0");
    w = g.variable("w", truncated_normal(g, {12, 8}, {.stddev = 0.3f}));
    u = g.variable("u", truncated_normal(g, {8, 4}, {.stddev = 0.3f}));
  }
  std::vector<Output> images, labels, losses;
  std::vector<std::vector<Output>> grads;
  for (int i = 0; i < 2; ++i) {
    Scope scope = g.device("/gpu:" + std::to_string(i));
    images.push_back(g.placeholder(float32, {kUnknown, 12}));
    labels.push_back(g.placeholder(int64, {kUnknown}));
    Output logits = matmul(nn::relu(matmul(images.back(), w)), u);
    losses.push_back(reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels.back(), logits)));
    std::vector<Output> own;
    for (const Gradient& grad : gradients({losses.back()}, {Output(w), Output(u)})) own.push_back(grad.dense());
    grads.push_back(own);
  }
  std::vector<Operation> train;
  {
    Scope scope = g.device("/gpu:0");
    train = {assign_sub(w, (grads[0][0] + grads[1][0]) * 0.05f).op(),
             assign_sub(u, (grads[0][1] + grads[1][1]) * 0.05f).op()};
  }
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Feed> feeds = {{images[0], numbers({6, 12}, i)},
                                     {labels[0], counted({6}, 4)},
                                     {images[1], numbers({6, 12}, i + 20)},
                                     {labels[1], counted({6}, 4, 5)}};
    for (const Tensor& t : s->run(losses, feeds, train)) results.push_back(t);
  }
  results.push_back(s->run(w));
  return results;
}

std::vector<DeviceProgram> all_programs() {
  std::vector<DeviceProgram> programs = device_programs();
  programs.push_back({"MatrixPowersOnTwoDevices", powers});
  programs.push_back({"TowersOnTwoDevices", towers});
  return programs;
}

TEST(CudaStandIn, ProgramsGiveTheResultsOfTheCpu) {
  for (const DeviceProgram& program : all_programs()) {
    SCOPED_TRACE(program.name);
    const auto wanted = program.run(make_session);
    Gpus gpus;
    const auto got = program.run(make_session);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(i);
      expect_close(got[i], wanted[i]);
    }
    EXPECT_GT(gpus.stand_in().launches(), 0);
  }
}

// Streams overtake each other differently for every seed; a wait that is missing would show as another number.
TEST(CudaStandIn, TheOrderInWhichDevicesEndChangesNoBit) {
  for (const DeviceProgram& program : {DeviceProgram{"powers", powers}, DeviceProgram{"towers", towers}}) {
    SCOPED_TRACE(program.name);
    std::vector<Tensor> first;
    for (uint32_t seed = 1; seed <= 6; ++seed) {
      Gpus gpus({.seed = seed, .longest_delay_us = 400});
      const auto got = program.run(make_session);
      if (first.empty()) first = got;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(std::memcmp(got[i].raw(), first[i].raw(), got[i].bytes()), 0) << "seed " << seed << ", fetch " << i;
      }
    }
  }
}

// Convolutions of all kinds that libraries see differently, with their gradients.
std::vector<Tensor> convolutions(const MakeSession& make) {
  struct Case {
    Shape image, filter;
    std::string format, padding;
    int64_t stride, dilation;
  };
  const std::string nhwc = "NHWC", nchw = "NCHW", same = "SAME", valid = "VALID";
  std::vector<Tensor> results;
  for (const Case& one :
       {Case{{2, 6, 5, 3}, {3, 3, 3, 4}, nhwc, same, 1, 1}, Case{{2, 6, 5, 3}, {2, 3, 3, 4}, nhwc, same, 2, 1},
        Case{{2, 7, 7, 3}, {3, 2, 3, 4}, nhwc, valid, 2, 1}, Case{{2, 9, 9, 2}, {3, 3, 2, 3}, nhwc, same, 1, 2},
        Case{{2, 3, 6, 5}, {3, 3, 3, 4}, nchw, same, 1, 1}, Case{{2, 3, 6, 5}, {2, 2, 3, 4}, nchw, same, 1, 1},
        Case{{2, 5, 4, 3}, {1, 1, 3, 5}, nhwc, same, 1, 1}, Case{{2, 5, 4, 3}, {1, 1, 3, 5}, nhwc, same, 2, 1}}) {
    auto spread = [&](int64_t n) {
      return one.format == nhwc ? std::vector<int64_t>{1, n, n, 1} : std::vector<int64_t>{1, 1, n, n};
    };
    Graph g;
    Output x = g.placeholder(float32, one.image), w = g.placeholder(float32, one.filter);
    Output y = nn::relu(nn::conv2d(x, w,
                                   {.strides = spread(one.stride),
                                    .padding = one.padding,
                                    .data_format = one.format,
                                    .dilations = spread(one.dilation)}));
    std::vector<Output> fetches = {y};
    for (const Gradient& grad : gradients({reduce_sum(square(y))}, {x, w})) fetches.push_back(grad.dense());
    auto s = make(g);
    for (const Tensor& t : s->run(fetches, {{x, numbers(one.image)}, {w, numbers(one.filter, 3)}}))
      results.push_back(t);
  }
  return results;
}

// Every copy with the host goes by way of pieces, over queues of its own; a missing wait would show as another number.
TEST(CudaStandIn, CopiesBesideTheKernelsChangeNoBit) {
  for (const DeviceProgram& program : all_programs()) {
    SCOPED_TRACE(program.name);
    std::vector<Tensor> wanted;
    {
      Gpus gpus;
      wanted = program.run(make_session);
    }
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      Gpus gpus({.seed = seed, .longest_delay_us = 200}, 1, {}, {.least = 1, .piece = 512});
      const auto got = program.run(make_session);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(std::memcmp(got[i].raw(), wanted[i].raw(), got[i].bytes()), 0) << "seed " << seed << ", fetch " << i;
      }
    }
  }
}

// Values that cross go in the order of the devices' own work; the host waits where it needs a value itself.
TEST(CudaStandIn, DevicesWaitForEachOtherWithoutTheHost) {
  Gpus gpus;
  Graph g;
  Output x = g.placeholder(float32, {64, 64}), y;
  {
    Scope scope = g.device("/gpu:0");
    y = matmul(x, x);
  }
  for (int i = 1; i <= 6; ++i) {
    Scope scope = g.device("/gpu:" + std::to_string(i % 2));
    y = matmul(y, x);
  }
  Session s(g, soft());
  const Tensor in = numbers({64, 64});
  const Tensor first = s.run(y, {{x, in}});
  const auto before = std::pair(gpus[0].memory()->counts(), gpus[1].memory()->counts());
  const Tensor again = s.run(y, {{x, in}});
  const auto after = std::pair(gpus[0].memory()->counts(), gpus[1].memory()->counts());
  EXPECT_EQ(std::memcmp(first.raw(), again.raw(), first.bytes()), 0);
  EXPECT_EQ(after.first.across - before.first.across, 3);
  EXPECT_EQ(after.second.across - before.second.across, 3);
  EXPECT_EQ(after.first.to_host + after.second.to_host - before.first.to_host - before.second.to_host, 1);
  // One at the end of each device's part, and one for what is fetched.
  EXPECT_LE(after.first.waits + after.second.waits - before.first.waits - before.second.waits, 3);
}

// The two variables and the two gradients go from one device to the other. From the host come the feeds and the marks
// of the checks of labels, and for the initial values two times two numbers; losses go there, and the fetched variable.
TEST(CudaStandIn, ATowersStepCopiesWhatItMust) {
  Gpus gpus;
  towers(make_session);
  accelerator::AcceleratorMemory::Counts all;
  for (size_t d = 0; d < gpus.size(); ++d) {
    const auto counts = gpus[d].memory()->counts();
    all.from_host += counts.from_host;
    all.to_host += counts.to_host;
    all.across += counts.across;
  }
  constexpr int kSteps = 4;
  EXPECT_EQ(all.across, kSteps * (2 + 2));
  EXPECT_EQ(all.from_host, kSteps * (4 + 2) + 4);
  EXPECT_EQ(all.to_host, kSteps * 2 + 1);
}

// Each fails somewhere else while copies are under way; what they would write to is gone by then.
TEST(CudaStandIn, AFailedRunLeavesNothingUnderWay) {
  Gpus gpus({.seed = 3, .longest_delay_us = 2000});
  Graph g;
  Output x = g.placeholder(float32, {256, 64}), ids = g.placeholder(int32, {2}), y, rows;
  {
    Scope scope = g.device("/gpu:0");
    y = tanh(x) * 2.f;
  }
  {
    Scope scope = g.device("/gpu:1");
    rows = gather(x, ids);
  }
  Session s(g, soft());
  const Tensor in = numbers({256, 64});
  const Tensor wanted = s.run(y, {{x, in}});
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(s.run({y, rows}, {{x, in}, {ids, std::vector<int32_t>{1, 999}}}), Error);
    const Tensor again = s.run(y, {{x, in}});
    ASSERT_EQ(std::memcmp(again.raw(), wanted.raw(), again.bytes()), 0);
  }
}

// What is the same in every run is one call from the third run on; other shapes and addresses are not mixed up.
TEST(CudaStandIn, StepsThatComeAgainAreGraphs) {
  for (const bool refuse : {false, true}) {
    Gpus gpus({.devices = 1});
    if (refuse) gpus.stand_in().fail("cuGraphInstantiate", 801);
    Graph g;
    Output x = g.placeholder(float32, {kUnknown, 24}), y = x;
    for (int i = 0; i < 20; ++i) y = matmul(y, g.constant(numbers({24, 24}, i))) * 0.5f;
    Session s(g, soft());
    std::vector<Tensor> first;
    for (int i = 0; i < 8; ++i) {
      const int64_t launches = gpus.stand_in().launches();
      for (int k = 0; k < 2; ++k) {
        const Tensor got = s.run(y, {{x, numbers({4 + k, 24}, k)}});
        if (i == 0) first.push_back(got);
        ASSERT_EQ(std::memcmp(got.raw(), first[static_cast<size_t>(k)].raw(), got.bytes()), 0) << i;
      }
      if (i == 7 && !refuse) {
        EXPECT_LT(gpus.stand_in().launches() - launches, 10);
      }
    }
    EXPECT_EQ(gpus.stand_in().graphs() > 0, !refuse);
  }
}

// What a pipeline's functions leave open stays on the CPU: its elements are there.
TEST(CudaStandIn, PipelinesRunOnTheHost) {
  Gpus gpus({.devices = 1});
  Graph g;
  const auto images = data::Dataset::range(g, 20).map([](Output x) { return tanh(cast(x, float32)) * 2.f; }).batch(4);
  Output next = images.one_shot_iterator().get_next<1>()[0];
  Output y = next + 1.f;
  Session s(g, soft());
  for (int i = 0; i < 5; ++i) {
    const Tensor got = s.run(y);
    EXPECT_FLOAT_EQ(got.data<float>()[1], std::tanh(static_cast<float>(4 * i + 1)) * 2 + 1);
  }
  EXPECT_EQ(gpus[0].memory()->counts().launches, 5);
  EXPECT_EQ(gpus[0].memory()->counts().from_host, 5 + 1);  // and the constant
}

// The host has begun everything long before the device comes to it.
TEST(CudaStandIn, TracesShowTheDevicesOwnTimes) {
  Gpus gpus({.devices = 1, .longest_delay_us = 3000});
  Graph g;
  Output x = g.placeholder(float32, {32, 32}), y = x;
  for (int i = 0; i < 30; ++i) y = matmul(y, x);
  Session s(g, soft());
  const Tensor in = numbers({32, 32});
  RunTrace trace;
  s.run(y, {{x, in}}, {}, {.trace = &trace});
  int64_t last = 0, products = 0;
  for (const RunTrace::Event& event : trace.events) {
    if (event.op != "MatMul") continue;
    ++products;
    EXPECT_EQ(event.device, "/device:GPU:0");
    EXPECT_GE(event.start_ns, last);  // one after the other
    EXPECT_GE(event.end_ns, event.start_ns);
    last = event.end_ns;
  }
  EXPECT_EQ(products, 30);
}

TEST(CudaStandIn, LibrariesComputeWhatTheKernelsDo) {
  std::vector<DeviceProgram> programs = all_programs();
  programs.push_back({"Convolutions", convolutions});
  for (const DeviceProgram& program : programs) {
    SCOPED_TRACE(program.name);
    const auto wanted = program.run(make_session);
    for (const bool refuse : {false, true}) {
      Gpus gpus({}, 1, CudaStandIn::libraries());
      if (refuse) {
        gpus.stand_in().fail("cublasGemm", 15);
        gpus.stand_in().fail("cudnnConvolution", 8);
      }
      const int64_t before = CudaStandIn::library_calls();
      const auto got = program.run(make_session);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        SCOPED_TRACE(i);
        expect_close(got[i], wanted[i]);
      }
      const int64_t calls = CudaStandIn::library_calls() - before;
      if (refuse) {
        EXPECT_EQ(calls, 0);
      } else if (program.name == "Convolutions") {
        EXPECT_GE(calls, 24);
      }
    }
  }
}

TEST(CudaStandIn, FailuresOfTheDriverAreErrorsAndLeaveTheSessionUsable) {
  Gpus gpus;
  Graph g;
  Output x = g.placeholder(float32, {kUnknown});
  Output y = tanh(x) * 2.f;
  Session s(g, soft());
  const Tensor in = numbers({100});
  const Tensor wanted = s.run(y, {{x, in}});
  for (const auto& [call, status, code] : {std::tuple{"cuLaunchKernel", 719, Code::Unavailable},
                                           {"cuEventSynchronize", 700, Code::Unavailable},
                                           {"cuMemcpyHtoDAsync", 1, Code::Internal},
                                           {"cuMemcpyDtoHAsync", 719, Code::Unavailable}}) {
    gpus.stand_in().fail(call, status);
    try {
      s.run(y, {{x, in}});
      ADD_FAILURE() << call << " failed and nobody said so";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      EXPECT_NE(std::string(e.what()).find("a stand-in for a GPU"), std::string::npos) << e.what();
    }
    gpus.stand_in().fail(call, 0);
    const Tensor again = s.run(y, {{x, in}});
    EXPECT_EQ(std::memcmp(again.raw(), wanted.raw(), again.bytes()), 0) << call;
  }
}

TEST(CudaStandIn, ACompilerThatRefusesIsNamedWithItsLog) {
  Gpus gpus;
  accelerator::Engine engine(gpus[0].engine().shared_driver(), Language::Cpp, KernelCache(""));
  try {
    engine.kernel(accelerator::intern_kernel("broken", "KERNEL(broken, int n) { no_such_thing(n); }\n"));
    ADD_FAILURE() << "nonsense was compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::InvalidArgument);
    EXPECT_NE(std::string(e.what()).find("no_such_thing"), std::string::npos) << e.what();
  }
}

TEST(CudaStandIn, FullMemoryNamesTheLargestHolders) {
  Gpus gpus({.devices = 1, .memory = 16 << 20});
  Graph g;
  Variable v = g.variable("large", zeros(g, {1000, 1000}));  // 4 MB
  Output x = g.placeholder(float32, {kUnknown, 1000});
  Output y = reduce_sum(matmul(x, v, {.transpose_b = true}));
  Session s(g, soft());
  s.run(g.global_variables_initializer());
  try {
    s.run(y, {{x, numbers({2900, 1000})}});
    ADD_FAILURE() << "11.6 MB and as much again fit into the rest of 16 MB";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::ResourceExhausted);
    EXPECT_NE(std::string(e.what()).find("variable 'large'"), std::string::npos) << e.what();
  }
  EXPECT_EQ(s.run(y, {{x, numbers({2, 1000})}}).data<float>()[0], 0);
  EXPECT_NE(gpus[0].description().find("of 16.0 MB in use"), std::string::npos) << gpus[0].description();
}

TEST(CudaStandIn, BadIndicesAndLabelsAreErrorsAndChangeNothing) {
  Gpus gpus;
  Graph g;
  Variable table = g.variable("table", g.constant(numbers({5, 3})));
  Output ids = g.placeholder(int32, {kUnknown});
  Output rows = gather(Output(table), ids);
  Operation change = scatter_add(table, ids, gather(g.constant(numbers({8, 3}, 2)), range(0, size(ids)))).op();
  Session s(g, soft());
  s.run(g.global_variables_initializer());
  const Tensor before = s.run(table);
  EXPECT_THROW(
      {
        try {
          s.run(rows, {{ids, std::vector<int32_t>{0, 9}}});
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), Code::InvalidArgument);
          EXPECT_NE(std::string(e.what()).find("indices[1] = 9 is not in [0, 5)"), std::string::npos) << e.what();
          throw;
        }
      },
      Error);
  EXPECT_THROW(s.run(std::vector<Output>{}, {{ids, std::vector<int32_t>{1, -1}}}, {change}), Error);
  const Tensor after = s.run(table);
  EXPECT_EQ(std::memcmp(before.raw(), after.raw(), before.bytes()), 0);
  s.run(std::vector<Output>{}, {{ids, std::vector<int32_t>{1, 1}}}, {change});
  EXPECT_NE(s.run(table).data<float>()[3], before.data<float>()[3]);
}

TEST(CudaStandIn, MemoryStaysFlatOverManySteps) {
  Gpus gpus({.longest_delay_us = 0});
  Graph g;
  Output x = g.placeholder(float32, {16});
  Variable v = g.variable("v", zeros(g, {16}));
  Operation step = assign_add(v, tanh(x) + reduce_sum(x)).op();
  Session s(g, soft());
  s.run(g.global_variables_initializer());
  const Tensor in = numbers({16});
  int64_t regions = 0, used = 0;
  for (int i = 0; i < 10000; ++i) {
    s.run(std::vector<Output>{}, {{x, in}}, {step});
    if (i == 1000) {
      regions = gpus[0].memory()->allocator().regions_made();
      used = gpus[0].memory()->used();
    }
  }
  EXPECT_EQ(gpus[0].memory()->allocator().regions_made(), regions);
  EXPECT_EQ(gpus[0].memory()->used(), used);
}

}  // namespace
}  // namespace weir::testing
