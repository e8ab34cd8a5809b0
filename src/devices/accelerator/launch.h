#pragma once

#include <cstring>

#include "base/errors.h"
#include "devices/accelerator/accelerator_memory.h"
#include "devices/accelerator/engine.h"
#include "devices/accelerator/program.h"
#include "ops/kernel.h"

namespace weir::accelerator {

// The device that this thread runs a kernel for. Set by AcceleratorDevice::launch.
struct Current {
  Engine* engine = nullptr;
  AcceleratorMemory* memory = nullptr;
};
inline thread_local Current current;

struct Ints {
  int32_t v[8] = {};
};
struct Floats {
  float v[8] = {};
};

// Throws Unimplemented for more elements than a kernel can count.
int32_t small_int(int64_t n);

// A kernel with its arguments in the order of its parameters. Allocates nothing.
class Launch {
 public:
  explicit Launch(KernelRef kernel) : kernel_(kernel) {}
  Launch& buffer(const void* address) {
    arguments_[count_++] = {address, 0};
    return *this;
  }
  template <class V>
  Launch& value(const V& v) {
    char* at = bytes_ + used_;
    std::memcpy(at, &v, sizeof(V));
    used_ += (sizeof(V) + 7) / 8 * 8;
    arguments_[count_++] = {at, sizeof(V)};
    return *this;
  }
  Launch& count(int64_t n) { return value(small_int(n)); }

  // One work item for each of n, as far as the device gains by more of them.
  void items(int64_t n);
  void groups(int64_t n);

 private:
  static constexpr int kMost = 48;
  KernelRef kernel_;
  int count_ = 0;
  size_t used_ = 0;
  Argument arguments_[kMost];
  alignas(8) char bytes_[1024];
};

// Memory of the device for the time of this call, and what comes behind it on the device.
Tensor temporary(DType dtype, const Shape& shape);

// A check of indices that goes on while the host does: every one of `n` values of type int32 or int64 must be in
// [0, limit), or at least below it. The run fails with what `message` says otherwise: fmt with {place}, {where} (the
// place's coordinates, "[2,0]"), {value} and {limit}. Gives the flag that kernels look at before they write what must
// stay untouched.
void* check_range(KernelContext& c, int input, int64_t limit, const char* message, bool negative_is_good = false);

}  // namespace weir::accelerator
