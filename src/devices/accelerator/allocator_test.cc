#include "devices/accelerator/allocator.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/errors.h"

namespace weir::accelerator {
namespace {

// Regions of the host's memory, as many bytes as there are.
class FakeDriver final : public Driver {
 public:
  explicit FakeDriver(size_t bytes) : left_(bytes) { info_.largest_region = static_cast<int64_t>(bytes); }
  Region allocate(size_t bytes) override {
    if (bytes > left_) throw error(Code::ResourceExhausted, "no more");
    left_ -= bytes;
    ++regions;
    return {static_cast<char*>(std::malloc(bytes)), bytes, nullptr};
  }
  void release(const Region& region) noexcept override {
    left_ += region.bytes;
    --regions;
    std::free(region.base);
  }
  void* pin(size_t) override { return nullptr; }
  void unpin(void*) noexcept override {}
  void copy(void*, const void*, size_t, DeviceMemory::Way, Queue) override {}
  std::string compile(const std::string&) override { return ""; }
  ProgramHandle load(const std::string&) override { return nullptr; }
  KernelHandle find(ProgramHandle, const char*) override { return nullptr; }
  void launch(KernelHandle, int, std::span<const Argument>) override {}
  EventHandle record(Queue) override { return nullptr; }
  void wait(EventHandle) override {}
  void follow(Queue, EventHandle) override {}
  void forget(EventHandle) noexcept override {}

  int regions = 0;

 private:
  size_t left_;
};

constexpr size_t kMega = size_t{1} << 20;

TEST(Allocator, GivesBlocksOutAgainWithoutAskingTheDriver) {
  FakeDriver driver(64 * kMega);
  Allocator allocator(driver, {.limit = 64 * kMega, .allow_growth = true});
  char* a = allocator.take(1000);
  char* b = allocator.take(1000);
  EXPECT_NE(a, b);
  EXPECT_TRUE(allocator.holds(a + 999));
  EXPECT_FALSE(allocator.holds(&driver));
  allocator.give_back(a);
  EXPECT_EQ(allocator.take(900), a);
  EXPECT_EQ(driver.regions, 1);
}

TEST(Allocator, JoinsNeighboursThatAreFree) {
  FakeDriver driver(2 * kMega);
  Allocator allocator(driver, {.limit = 2 * kMega, .allow_growth = true});
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(allocator.take(kMega / 4));
  ASSERT_NE(blocks.back(), nullptr);
  EXPECT_EQ(allocator.take(1), nullptr);
  for (int i : {1, 3, 2, 0, 7, 5, 6, 4}) allocator.give_back(blocks[static_cast<size_t>(i)]);
  EXPECT_NE(allocator.take(2 * kMega), nullptr);
}

TEST(Allocator, KeepsToItsLimitAndGivesIdleRegionsBackFirst) {
  FakeDriver driver(64 * kMega);
  Allocator allocator(driver, {.limit = 8 * kMega, .allow_growth = true});
  char* small = allocator.take(3 * kMega);
  EXPECT_EQ(allocator.take(6 * kMega), nullptr);
  EXPECT_LE(allocator.reserved(), static_cast<int64_t>(8 * kMega));
  allocator.give_back(small);
  EXPECT_NE(allocator.take(7 * kMega), nullptr);  // in a region of its own, in place of the first
  EXPECT_EQ(driver.regions, 1);
}

TEST(Allocator, TakesLessWhenTheDriverHasLess) {
  FakeDriver driver(20 * kMega);
  Allocator allocator(driver, {.limit = 64 * kMega, .allow_growth = false});
  EXPECT_NE(allocator.take(kMega), nullptr);  // the usual first region does not fit
  EXPECT_EQ(allocator.take(30 * kMega), nullptr);
}

TEST(Allocator, HasAnAddressForNoBytes) {
  FakeDriver driver(64 * kMega);
  Allocator allocator(driver, {.limit = 64 * kMega});
  char* a = allocator.take(0);
  char* b = allocator.take(0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  EXPECT_TRUE(allocator.holds(a));
}

}  // namespace
}  // namespace weir::accelerator
