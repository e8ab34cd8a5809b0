#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "devices/accelerator/allocator.h"
#include "devices/accelerator/driver.h"
#include "devices/accelerator/transfers.h"
#include "weir/error.h"

namespace weir::accelerator {

// The memory of a device that has a driver: blocks of the driver's regions, and copies that go on while the host does.
// They read and write pinned memory of the host: what is copied from there may change as soon as copy() returns, and
// what is copied there is put in its place by the finish() of the thread that asked for it.
class AcceleratorMemory final : public DeviceMemory {
 public:
  AcceleratorMemory(std::string device, std::shared_ptr<Driver> driver, const Allocator::Options& options,
                    const Transfers::Options& transfers = {});
  ~AcceleratorMemory() override;

  bool on_host() const override { return false; }
  Tensor place(DType dtype, const Shape& shape) override;
  bool holds(const void* data) const override { return allocator_.holds(data); }
  void copy(void* to, const void* from, size_t bytes, Way way) override;
  // Throws what check_later() found.
  void finish() override;
  void abandon() noexcept override;
  void* moment() override { return driver_->moment(); }
  int64_t nanoseconds(void* from, void* to) override { return driver_->nanoseconds(from, to); }
  void forget_moment(void* moment) noexcept override { driver_->forget(moment); }
  bool follows(const DeviceMemory& other) const override;
  void copy_behind(void* to, DeviceMemory& other, const void* from, size_t bytes) override;

  Driver& driver() const { return *driver_; }
  const Allocator& allocator() const { return allocator_; }

  // Three int32 in the device's memory, the first INT32_MAX now. A kernel that finds a bad value at place i makes the
  // first one the least such i, and the others that value's low and high half; the next finish() of this thread then
  // throws what `blame` makes of them. Kernels never follow a bad value themselves.
  using Blame = std::function<Error(int64_t at, int64_t value)>;
  void* check_later(Blame blame);
  // Those of this thread: its run has failed already.
  void forget_checks() { (void)take_checks(); }

  // Copies from another device's memory are `across`.
  struct Counts {
    int64_t launches = 0, from_host = 0, to_host = 0, within = 0, across = 0, waits = 0;
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
  // Bytes that finish() puts where a thread wants them.
  struct Outgoing {
    std::thread::id thread;
    void* to;
    size_t bytes;
    Staging staging;
  };
  std::string holders();
  Staging idle_staging(size_t bytes);  // REQUIRES: staging_mutex_ is held
  char* stage(size_t bytes);           // REQUIRES: staging_mutex_ is held
  void keep(Staging staging);          // REQUIRES: staging_mutex_ is held
  void copy_out(void* to, const void* from, size_t bytes);
  std::vector<Outgoing> take_outgoing();
  void await(std::vector<Outgoing> arriving);
  struct Check {
    std::thread::id thread;
    Tensor flag;
    Blame blame;
  };
  std::vector<Check> take_checks();

  std::string device_;
  std::shared_ptr<Driver> driver_;
  Allocator allocator_;
  Transfers transfers_;

  std::mutex staging_mutex_;
  std::vector<Staging> idle_, busy_;  // the last busy one may have room left
  std::vector<Outgoing> outgoing_;
  std::mutex checks_mutex_;
  std::vector<Check> checks_;
  std::atomic<int> check_count_{0};
  std::atomic<int64_t> launches_{0}, from_host_{0}, to_host_{0}, within_{0}, across_{0}, waits_{0};
};

}  // namespace weir::accelerator
