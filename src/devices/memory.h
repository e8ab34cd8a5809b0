#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "weir/tensor.h"

namespace weir {

// The memory of a device that is not simply the machine's: where its values lie, with a limit and accounts of who holds
// how much of it ("variable 'w'", "the plan for 'train'"). As it stands here, bytes come from the machine's memory and
// only the limit and the accounts make it a device's; a memory of another kind overrides the virtual functions.
// Strings and variants have constructors: they stay objects of the host on every device. Thread-safe. Buffers outlive
// it.
class DeviceMemory : public std::enable_shared_from_this<DeviceMemory> {
 public:
  // `device` is named in errors.
  DeviceMemory(std::string device, int64_t limit) : device_(std::move(device)), limit_(limit) {}
  virtual ~DeviceMemory() = default;

  // Whether the host can read and write it as its own.
  virtual bool on_host() const { return true; }
  // Uninitialised elements, on nobody's account. Throws ResourceExhausted when there is no room.
  virtual Tensor place(DType dtype, const Shape& shape) { return Tensor(dtype, shape); }
  // Whether these bytes are in this memory.
  virtual bool holds(const void*) const { return true; }
  // Copies bytes of the host here, from here to the host, or from here to here. What goes to the host is there when
  // finish() has returned; the device itself comes to later kernels and copies after it.
  enum class Way { FromHost, ToHost, Within };
  virtual void copy(void* to, const void* from, size_t bytes, Way way);
  // Returns when all kernels and copies that were begun have ended.
  virtual void finish() {}
  // Of a run that has failed: nobody wants any more what this thread has begun, and the host's memory is not written to
  // when this returns.
  virtual void abandon() noexcept {}
  // A moment of the device's own clock, behind everything that this thread has begun; null: it has none. Nanoseconds
  // from one to another are known when finish() has returned.
  virtual void* moment() { return nullptr; }
  virtual int64_t nanoseconds(void* /*from*/, void* /*to*/) { return 0; }
  virtual void forget_moment(void*) noexcept {}
  // Whether copies from that memory to this one may be left to the two devices: with copy_behind() what the other one
  // has begun comes before the copy, and the copy before what is begun here afterwards, and nobody has to wait.
  virtual bool follows(const DeviceMemory&) const { return false; }
  virtual void copy_behind(void* /*to*/, DeviceMemory& /*other*/, const void* /*from*/, size_t /*bytes*/) {}

  int64_t limit() const { return limit_; }
  int64_t used() const;
  int64_t peak() const;

  // Uninitialised elements, on the holder's account until the last reference to them is dropped. Throws
  // ResourceExhausted, naming the largest holders.
  Tensor allocate(DType dtype, const Shape& shape, std::string_view holder);
  // The same value on the holder's account, and in this memory: for what a kernel allocated by itself.
  Tensor adopt(const Tensor& value, std::string_view holder);
  // The same value in this memory: itself when it is there. On nobody's account.
  Tensor moved_here(const Tensor& value);
  // A copy of a value that is here, in this memory and in the host's.
  Tensor duplicate(const Tensor& value);
  Tensor to_host(const Tensor& value);

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

// Whether the host can use values that lie there as its own; null is the host's memory itself.
inline bool on_host(const DeviceMemory* memory) { return !memory || memory->on_host(); }
// Copies bytes from one memory to another. They are there when this returns if `to` is the host's.
void copy_between(DeviceMemory* to_memory, void* to, DeviceMemory* from_memory, const void* from, size_t bytes);

// The value in another memory: itself when it is there, or when it has none (text). Of lists and other variants, all
// that they hold.
Tensor moved_between(DeviceMemory* to_memory, DeviceMemory* from_memory, const Tensor& value);

// "12.5 MB": for messages.
std::string readable_bytes(int64_t bytes);

}  // namespace weir
