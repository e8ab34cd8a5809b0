#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "devices/accelerator/libraries.h"
#include "devices/memory.h"

// What OpenCL and CUDA have to do for the accelerator core. Memory, kernels and copies; the core has the rest: which
// memory is used again when, what is compiled and kept on disk, and what kernels there are.
namespace weir::accelerator {

// Work items of a group: the same for every kernel, so that one compilation serves all sizes.
constexpr int kGroupItems = 64;

struct DriverInfo {
  std::string kind;    // "CUDA", "OpenCL"
  std::string name;    // of the device, as its maker calls it
  std::string driver;  // with its version: a kernel that was compiled for another is compiled again
  int64_t memory = 0;  // bytes
  int64_t largest_region = 0;
  int units = 1;  // multiprocessors or cores
  bool has_double = false;
};

// A piece of the device's memory. `base` is an address that the host can compute with and that is no other memory's,
// but must not follow: the device's own where it has such, one that is merely set aside where it has handles.
struct Region {
  char* base = nullptr;
  size_t bytes = 0;
  void* handle = nullptr;  // the driver's
};

// An argument of a kernel: the address of a buffer (BUFFER in the dialect), or bytes.
struct Argument {
  const void* data = nullptr;  // the address in the device's memory, or where the bytes are
  size_t bytes = 0;            // 0: a buffer
};

using ProgramHandle = void*;
using KernelHandle = void*;
using EventHandle = void*;

// What is begun on a queue runs in the order in which it was begun; queues wait for each other by marks. Kernels are
// Compute's, the others are for copies from and to the host.
enum class Queue { Compute, In, Out };
constexpr int kQueues = 3;

// One device. Thread-safe. Errors are
// weir::Error: ResourceExhausted when memory is short, InvalidArgument with the compiler's log for a source that it
// refuses, Unavailable when the device does not answer any more.
class Driver {
 public:
  virtual ~Driver() = default;
  const DriverInfo& info() const { return info_; }

  // Bytes of the device's memory that processes use; -1: the driver does not say.
  virtual int64_t in_use() { return -1; }
  virtual Region allocate(size_t bytes) = 0;
  virtual void release(const Region& region) noexcept = 0;
  // Memory of the host that copies reach without another copy.
  virtual void* pin(size_t bytes) = 0;
  virtual void unpin(void* data) noexcept = 0;

  // Begins a copy. The host's bytes stay as they are until it has ended.
  virtual void copy(void* to, const void* from, size_t bytes, DeviceMemory::Way way, Queue queue = Queue::Compute) = 0;

  // What load() takes and the cache on disk keeps.
  virtual std::string compile(const std::string& source) = 0;
  virtual ProgramHandle load(const std::string& binary) = 0;  // for as long as the driver lives
  virtual KernelHandle find(ProgramHandle program, const char* name) = 0;
  // Begins a kernel, on `groups` groups of kGroupItems items.
  virtual void launch(KernelHandle kernel, int groups, std::span<const Argument> arguments) = 0;

  // What the maker's libraries compute in place of the core's kernels; begun as a kernel is. False, or nothing: there
  // is no such library, or it does not do this one, and nothing was begun.
  virtual bool multiply(const Product&, const void* /*a*/, const void* /*b*/, void* /*c*/) { return false; }
  // Bytes of the device's memory that the convolution needs besides.
  virtual std::optional<size_t> convolution_scratch(const Convolution&) { return std::nullopt; }
  virtual bool convolve(const Convolution&, const void* /*first*/, const void* /*second*/, void* /*result*/,
                        void* /*scratch*/) {
    return false;
  }

  // A mark behind what has been begun on a queue.
  virtual EventHandle record(Queue queue = Queue::Compute) = 0;
  // Returns when everything before the mark has ended; the mark is gone then.
  virtual void wait(EventHandle event) = 0;
  // What is begun on the queue from now on runs when the mark is reached.
  virtual void follow(Queue queue, EventHandle event) = 0;
  // Whether follow() takes marks of that driver, and copies reach memory that it has pinned.
  virtual bool knows(const Driver& other) const { return this == &other; }
  // A mark of the Compute queue that knows when it was reached; null: the device has no clock.
  virtual EventHandle moment() { return nullptr; }
  virtual int64_t nanoseconds(EventHandle /*from*/, EventHandle /*to*/) { return 0; }
  // Nobody wants to know any more.
  virtual void forget(EventHandle event) noexcept = 0;

 protected:
  DriverInfo info_;
};

}  // namespace weir::accelerator
