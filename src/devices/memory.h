#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "weir/tensor.h"

namespace weir {

// The memory of a device that has a limit, with accounts of who holds how much of it: "variable 'w'", "arena of the
// plan for 'train'". Bytes come from the machine's memory; the limit and the accounts are what makes it a device's.
// Thread-safe. Buffers outlive it.
class DeviceMemory : public std::enable_shared_from_this<DeviceMemory> {
 public:
  // `device` is named in errors.
  DeviceMemory(std::string device, int64_t limit) : device_(std::move(device)), limit_(limit) {}

  int64_t limit() const { return limit_; }
  int64_t used() const;
  int64_t peak() const;

  // Uninitialised elements, on the holder's account until the last reference to them is dropped. Throws
  // ResourceExhausted, naming the largest holders.
  Tensor allocate(DType dtype, const Shape& shape, std::string_view holder);
  // The same value on the holder's account: for what a kernel allocated by itself.
  Tensor adopt(const Tensor& value, std::string_view holder);

  // Enters that `holder` has `now` bytes instead of `before`; throws ResourceExhausted and changes nothing when they
  // are too many.
  void charge(std::string_view holder, int64_t before, int64_t now);

 private:
  class Charged;
  [[noreturn]] void fail(std::string_view holder, int64_t bytes) const;  // REQUIRES: mutex_ is held

  const std::string device_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  int64_t used_ = 0, peak_ = 0;
  std::map<std::string, int64_t, std::less<>> accounts_;
};

// "12.5 MB": for messages.
std::string readable_bytes(int64_t bytes);

}  // namespace weir
