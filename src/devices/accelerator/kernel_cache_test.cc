#include "devices/accelerator/kernel_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weir::accelerator {
namespace {

namespace fs = std::filesystem;

class KernelCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  const std::string folder_ = ::testing::TempDir() + "weir_kernel_cache";
  const DriverInfo info_{.kind = "OpenCL", .name = "a device", .driver = "1.0"};
};

TEST_F(KernelCacheTest, FindsWhatWasKept) {
  const KernelCache cache(folder_);
  EXPECT_FALSE(cache.find(info_, "source"));
  cache.keep(info_, "source", std::string("bin\0ary\n", 8));
  EXPECT_EQ(cache.find(info_, "source"), std::string("bin\0ary\n", 8));
  EXPECT_FALSE(cache.find(info_, "another source"));
}

TEST_F(KernelCacheTest, AnotherDriverOrDeviceHasItsOwn) {
  const KernelCache cache(folder_);
  cache.keep(info_, "source", "binary");
  DriverInfo later = info_, other = info_;
  later.driver = "1.1";
  other.name = "another device";
  EXPECT_FALSE(cache.find(later, "source"));
  EXPECT_FALSE(cache.find(other, "source"));
}

TEST_F(KernelCacheTest, FilesThatWereCutShortAreNotUsed) {
  const KernelCache cache(folder_);
  cache.keep(info_, "source", "a binary of some length");
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry.path(), fs::file_size(entry) - 3);
  EXPECT_FALSE(cache.find(info_, "source"));
  for (const auto& entry : fs::directory_iterator(folder_)) std::ofstream(entry.path()) << "nonsense";
  EXPECT_FALSE(cache.find(info_, "source"));
}

TEST_F(KernelCacheTest, AFolderThatCannotBeWrittenIsNoError) {
  const KernelCache cache("/proc/no/such/folder");
  cache.keep(info_, "source", "binary");
  EXPECT_FALSE(cache.find(info_, "source"));
  EXPECT_FALSE(KernelCache("").find(info_, "source"));
}

}  // namespace
}  // namespace weir::accelerator
