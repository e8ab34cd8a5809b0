#include "devices/device.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace weir {
namespace {

TEST(DeviceSet, SharesTheCoresAmongLogicalCpus) {
  DeviceSet devices({.intra_op_parallelism_threads = 5, .device_count = {{"CPU", 2}}});
  ASSERT_EQ(devices.size(), 2);
  EXPECT_EQ(devices[0].name(), "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(devices[1].short_name(), "/device:CPU:1");
  EXPECT_EQ(devices[0].pool().threads(), 3);
  EXPECT_EQ(devices[1].pool().threads(), 2);
  EXPECT_TRUE(devices[0].shares_memory_with(devices[1]));
  EXPECT_EQ(devices.first_gpu(), -1);
}

TEST(DeviceSet, HasAsManyVirtualGpusAsAskedFor) {
  DeviceSet devices(
      {.intra_op_parallelism_threads = 4, .virtual_gpus = {.count = 2, .memory_limit = 1000, .memory_fraction = 0.5}});
  ASSERT_EQ(devices.size(), 3);
  EXPECT_EQ(devices.first_gpu(), 1);
  EXPECT_EQ(devices[2].name(), "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(devices[2].pool().threads(), 2);
  EXPECT_EQ(devices[2].memory()->limit(), 500);
  EXPECT_FALSE(devices[0].shares_memory_with(devices[1]));
  EXPECT_FALSE(devices[1].shares_memory_with(devices[2]));
  EXPECT_EQ(devices.matching(DeviceSpec::parse("/gpu:*")), (std::vector<int>{1, 2}));
  EXPECT_EQ(devices.matching(DeviceSpec::parse("/task:0/cpu:0")), std::vector<int>{0});
  EXPECT_TRUE(devices.matching(DeviceSpec::parse("/gpu:2")).empty());
}

TEST(DeviceSet, TakesTheNumberOfGpusFromTheEnvironmentAndHidesThemWhenTold) {
  setenv("WEIR_VIRTUAL_GPUS", "3", 1);
  EXPECT_EQ(list_local_devices().size(), 4u);
  EXPECT_EQ(list_local_devices({.device_count = {{"GPU", 0}}}).size(), 1u);
  EXPECT_EQ(list_local_devices({.device_count = {{"GPU", 2}}}).size(), 3u);
  EXPECT_EQ(list_local_devices({.virtual_gpus = {.count = 0}}).size(), 1u);
  setenv("WEIR_VIRTUAL_GPUS", "many", 1);
  EXPECT_THROW(list_local_devices(), Error);
  unsetenv("WEIR_VIRTUAL_GPUS");
  EXPECT_EQ(list_local_devices().size(), 1u);
  EXPECT_EQ(list_local_devices()[0].type, "CPU");
}

TEST(DeviceSet, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(DeviceSet({.intra_op_parallelism_threads = -1}), Error);
  EXPECT_THROW(DeviceSet({.device_count = {{"CPU", -1}}}), Error);
  EXPECT_THROW(DeviceSet({.virtual_gpus = {.count = 1, .memory_fraction = 0}}), Error);
  EXPECT_THROW(DeviceSet({.virtual_gpus = {.count = 1, .memory_fraction = 1.5}}), Error);
  EXPECT_THROW(DeviceSet({.virtual_gpus = {.count = 1, .memory_limit = -1}}), Error);
}

TEST(DeviceMemory, KeepsAccountsUntilTheLastReferenceIsGone) {
  auto memory = std::make_shared<DeviceMemory>("/device:GPU:0", 1000);
  Tensor a = memory->allocate(DType::Float32, {100}, "a");
  Tensor same = a;
  EXPECT_EQ(memory->used(), 400);
  a = Tensor();
  EXPECT_EQ(memory->used(), 400);
  same = Tensor();
  EXPECT_EQ(memory->used(), 0);
  EXPECT_EQ(memory->peak(), 400);
  Tensor foreign(DType::Float32, {10});
  {
    Tensor adopted = memory->adopt(foreign, "b");
    EXPECT_EQ(adopted.raw(), foreign.raw());
    EXPECT_EQ(memory->used(), 40);
    EXPECT_EQ(memory->adopt(adopted, "c").buffer(), adopted.buffer());
  }
  EXPECT_EQ(memory->used(), 0);
}

TEST(DeviceMemory, NamesTheLargestHoldersWhenItIsFull) {
  auto memory = std::make_shared<DeviceMemory>("/device:GPU:0", 10 << 20);
  Tensor small = memory->allocate(DType::Float32, {1 << 10}, "variable 'b'");
  Tensor large = memory->allocate(DType::Float32, {1 << 20}, "variable 'w'");
  memory->charge("variable 'u'", 0, 2 << 20);
  try {
    memory->allocate(DType::Float32, {2 << 20}, "the plan for 'train'");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::ResourceExhausted);
    EXPECT_STREQ(e.what(),
                 "OOM when allocating 8.0 MB for the plan for 'train' on /device:GPU:0: 6.0 MB of 10.0 MB are in use; "
                 "the largest holders are variable 'w' 4.0 MB, variable 'u' 2.0 MB, variable 'b' 4.0 KB");
  }
  EXPECT_EQ(memory->used(), (6 << 20) + (4 << 10));
  memory->charge("variable 'u'", 2 << 20, 0);
  EXPECT_NO_THROW(memory->allocate(DType::Float32, {5 << 18}, "again"));
}

}  // namespace
}  // namespace weir
