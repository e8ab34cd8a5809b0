// The CUDA form of the kernels, compiled by NVRTC and assembled by ptxas where the toolkit is there: every text that
// the programs of the tests use, every elementwise function and every update of a variable. Without the toolkit it is
// skipped.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "devices/accelerator/accelerator_device.h"
#include "devices/accelerator/elementwise_text.h"
#include "devices/accelerator/table.h"
#include "devices/cuda/cuda_driver.h"
#include "devices/cuda/open_library.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/support/device_programs.h"
#include "weir/weir.h"

namespace weir::testing {
namespace {

bool can_run(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

// Has the programs ask for their kernels.
void intern_all() {
  CudaStandIn stand_in({.devices = 1, .longest_delay_us = 0});
  const auto drivers = cuda::find_drivers(stand_in.api());
  auto engine = std::make_shared<accelerator::Engine>(
      drivers[0], accelerator::Language::Cpp, accelerator::KernelCache(accelerator::KernelCache::default_folder()));
  const auto device = std::make_shared<accelerator::AcceleratorDevice>(0, engine, accelerator::AcceleratorOptions{});
  const MoreDevices more({device});
  for (const DeviceProgram& program : device_programs()) {
    program.run([](Graph& g) {
      return std::make_unique<Session>(g, SessionOptions{.allow_soft_placement = true, .virtual_gpus = {.count = 0}});
    });
  }
}

// Every elementwise function, in float and in double.
void intern_functions() {
  using namespace accelerator;
  for (const DType type : {DType::Float32, DType::Float64}) {
    ElementwiseProgram program;
    program.inputs = 2;
    int sum = 0;
    for (int fn = 0; fn < kUnaryFns; ++fn) {
      if (!has_function(static_cast<UnaryFn>(fn), type)) continue;
      sum = program.add(BinaryFn::Add, sum, program.add(static_cast<UnaryFn>(fn), 0));
    }
    for (int fn = 0; fn < kBinaryFns; ++fn) {
      sum = program.add(BinaryFn::Add, sum, program.add(static_cast<BinaryFn>(fn), 0, 1));
    }
    program.outputs = {program.add_select(1, sum, 0)};
    const DType types[] = {type, type};
    const Reach reaches[] = {Reach::Direct, Reach::Strided};
    intern_kernel("elementwise", elementwise_text(program, types, type, reaches));
  }
}

TEST(Ptx, EveryKernelIsAssembledForTheArchitecturesOfTheToolkit) {
  const cuda::Api* compiler = cuda::open_compiler();
  if (!compiler || !can_run("ptxas --version")) GTEST_SKIP() << "there is no CUDA toolkit here";
  // The oldest virtual architecture that this toolkit knows; CUDA 13 has dropped compute_70.
  const std::string probe(accelerator::dialect_head(accelerator::Language::Cuda));
  std::string oldest;
  for (const char* architecture : {"compute_70", "compute_75", "compute_80"}) {
    try {
      cuda::compile_ptx(*compiler, probe, architecture);
      oldest = architecture;
      break;
    } catch (const Error&) {
    }
  }
  ASSERT_FALSE(oldest.empty());
  intern_all();
  intern_functions();
  accelerator::intern_update_kernels();
  std::set<std::string> texts;
  for (int i = 0; i < accelerator::interned_kernels(); ++i) texts.insert(accelerator::kernel_text({i}).text);
  ASSERT_GT(texts.size(), 50u);
  const std::string path = ::testing::TempDir() + "weir_kernel.ptx";
  std::map<std::string, int> assembled;
  for (const std::string& text : texts) {
    const std::string source = std::string(accelerator::dialect_head(accelerator::Language::Cuda)) + text;
    std::string ptx;
    ASSERT_NO_THROW(ptx = cuda::compile_ptx(*compiler, source, oldest)) << text;
    std::ofstream(path) << ptx.c_str();
    for (const char* target : {"sm_70", "sm_80", "sm_90"}) {
      if (std::string(target) == "sm_70" && oldest != "compute_70") continue;
      EXPECT_TRUE(can_run("ptxas -arch=" + std::string(target) + " -o /dev/null " + path)) << target << "\n" << text;
      ++assembled[target];
    }
  }
  std::remove(path.c_str());
  for (const auto& [target, count] : assembled)
    std::printf("%d texts assembled for %s, from %s\n", count, target.c_str(), oldest.c_str());
}

TEST(Toolkit, ItsLibrariesHaveTheFunctionsThatAreUsed) {
  void* blas = cuda::open_toolkit_library("libcublas.so", {"13", "12", "11"});
  void* dnn = cuda::open_toolkit_library("libcudnn.so", {"9", "8", "7"});
  if (!blas && !dnn) GTEST_SKIP() << "there is no CUDA toolkit here";
  EXPECT_EQ(cuda::open_blas() != nullptr, blas != nullptr);
  EXPECT_EQ(cuda::open_dnn() != nullptr, dnn != nullptr);
}

}  // namespace
}  // namespace weir::testing
