// Programs on a device whose memory the host cannot touch: they give the CPU's bits, and nothing reads a value where it
// is not. A mistake ends the process (tests/support/protected_device.h).

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "tests/support/device_programs.h"
#include "tests/support/protected_device.h"
#include "weir/control_flow.h"
#include "weir/embedding.h"
#include "weir/weir.h"

namespace weir::testing {
namespace {

class OnProtectedDevice : public ::testing::Test {
 protected:
  // On the CPU and on the device; what both fetch must be the same to the bit.
  void compare(const Program& program) {
    const SessionOptions options{
        .intra_op_parallelism_threads = 2, .allow_soft_placement = true, .virtual_gpus = {.count = 0}};
    const MakeSession make = [&](Graph& g) { return std::make_unique<Session>(g, options); };
    const std::vector<Tensor> wanted = program(make);
    const MoreDevices more({device_});
    const std::vector<Tensor> got = program(make);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].shape(), wanted[i].shape()) << i;
      ASSERT_FALSE(device_->memory()->holds(got[i].raw())) << i;
      EXPECT_EQ(std::memcmp(got[i].raw(), wanted[i].raw(), got[i].bytes()), 0) << "fetch " << i << ": " << got[i].str();
    }
    EXPECT_GT(device_->memory()->copies_to_host(), 0);
  }

  std::shared_ptr<ProtectedDevice> device_ = std::make_shared<ProtectedDevice>(0);
};

TEST_F(OnProtectedDevice, TheHostCannotReadItsMemory) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  Tensor there = device_->memory()->moved_here(numbers({4}));
  EXPECT_TRUE(device_->memory()->holds(there.raw()));
  EXPECT_DEATH(std::fprintf(stderr, "%f", static_cast<double>(*static_cast<const volatile float*>(there.raw()))), "");
  const Tensor back = device_->memory()->to_host(there);
  EXPECT_EQ(std::memcmp(back.raw(), numbers({4}).raw(), back.bytes()), 0);
}

TEST_F(OnProtectedDevice, ProgramsGiveTheBitsOfTheCpu) {
  for (const DeviceProgram& program : device_programs()) {
    SCOPED_TRACE(program.name);
    compare(program.run);
  }
}

TEST_F(OnProtectedDevice, VariablesLiveThereAndAreSavedAndRestored) {
  const std::string folder = ::testing::TempDir() + "weir_protected_device";
  std::filesystem::create_directories(folder);
  compare([&](const MakeSession& make) {
    Graph g;
    Variable v = g.variable("v", g.constant(numbers({5, 3}))), counter = g.variable("counter", g.constant(0));
    Operation change = assign_add(v, ones(g, {5, 3})).op(), count = assign_add(counter, 1).op();
    train::Saver saver(g);
    auto s = make(g);
    s->run(g.global_variables_initializer());
    s->run(change);
    s->run(count);
    const std::string path = saver.save(*s, folder + "/model");
    s->run(change);
    s->run(count);
    Tensor later = s->run(v);
    auto other = make(g);
    saver.restore(*other, path);
    return std::vector<Tensor>{later, other->run(v), other->run(counter)};
  });
  std::filesystem::remove_all(folder);
}

TEST_F(OnProtectedDevice, TwoDevicesMeetAtTheHost) {
  auto second = std::make_shared<ProtectedDevice>(1);
  Graph g;
  Output x = g.placeholder(float32, {64, 64});
  Output a, b;
  {
    Scope scope = g.device("/gpu:0");
    a = matmul(x, x);
  }
  {
    Scope scope = g.device("/gpu:1");
    b = tanh(a) + a;
  }
  Session alone(g, {.intra_op_parallelism_threads = 2, .allow_soft_placement = true, .virtual_gpus = {.count = 0}});
  const MoreDevices more({device_, second});
  Session both(g, {.intra_op_parallelism_threads = 2, .virtual_gpus = {.count = 0}});
  const Tensor wanted = alone.run(b, {{x, numbers({64, 64})}});
  for (int i = 0; i < 20; ++i) {
    const Tensor got = both.run(b, {{x, numbers({64, 64})}});
    ASSERT_EQ(std::memcmp(got.raw(), wanted.raw(), wanted.bytes()), 0);
  }
  EXPECT_GT(second->memory()->copies_from_host(), 0);
}

// A constant is put there when the plan is made, and not again.
TEST_F(OnProtectedDevice, ConstantsAreUploadedOnce) {
  const MoreDevices more({device_});
  Graph g;
  Output x = g.placeholder(float32, {16});
  Output y = x + g.constant(numbers({16}));
  Session s(g, {.virtual_gpus = {.count = 0}});
  const Tensor xs = numbers({16}, 1);
  s.run(y, {{x, xs}});
  const int64_t before = device_->memory()->copies_from_host();
  s.run(y, {{x, xs}});
  EXPECT_EQ(device_->memory()->copies_from_host() - before, 1);  // the feed
}

}  // namespace
}  // namespace weir::testing
