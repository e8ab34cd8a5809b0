#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "devices/accelerator/allocator.h"
#include "devices/accelerator/driver.h"
#include "weir/error.h"

namespace weir::accelerator {

// The memory of a device that has a driver: blocks of the driver's regions, and copies that go on while the host does.
// Bytes of the host are put into pinned memory first, because they may change as soon as copy() returns.
class AcceleratorMemory final : public DeviceMemory {
 public:
  AcceleratorMemory(std::string device, std::shared_ptr<Driver> driver, const Allocator::Options& options);
  ~AcceleratorMemory() override;

  bool on_host() const override { return false; }
  Tensor place(DType dtype, const Shape& shape) override;
  bool holds(const void* data) const override { return allocator_.holds(data); }
  void copy(void* to, const void* from, size_t bytes, Way way) override;
  // Throws what check_later() found.
  void finish() override;

  Driver& driver() const { return *driver_; }
  const Allocator& allocator() const { return allocator_; }

  // Three int32 in the device's memory, the first INT32_MAX now. A kernel that finds a bad value at place i makes the
  // first one the least such i, and the others that value's low and high half; the next finish() of this thread then
  // throws what `blame` makes of them. Kernels never follow a bad value themselves.
  using Blame = std::function<Error(int64_t at, int64_t value)>;
  void* check_later(Blame blame);
  // Those of this thread: its run has failed already.
  void forget_checks() { (void)take_checks(); }

  struct Counts {
    int64_t launches = 0, from_host = 0, to_host = 0, within = 0, waits = 0;
  };
  Counts counts() const;
  void count_launch() { launches_.fetch_add(1, std::memory_order_relaxed); }

 private:
  class Block;
  // Pinned bytes of the host that copies to the device read from.
  struct Staging {
    char* data = nullptr;
    size_t bytes = 0, used = 0;
  };
  std::string holders();
  char* stage(size_t bytes);  // REQUIRES: staging_mutex_ is held
  struct Check {
    std::thread::id thread;
    Tensor flag;
    Blame blame;
  };
  std::vector<Check> take_checks();

  std::string device_;
  std::shared_ptr<Driver> driver_;
  Allocator allocator_;

  std::mutex staging_mutex_;
  std::vector<Staging> idle_, busy_;  // the last busy one may have room left
  std::mutex checks_mutex_;
  std::vector<Check> checks_;
  std::atomic<int> check_count_{0};
  std::atomic<int64_t> launches_{0}, from_host_{0}, to_host_{0}, within_{0}, waits_{0};
};

}  // namespace weir::accelerator
