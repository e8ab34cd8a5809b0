#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "devices/cuda/cuda_driver.h"

namespace weir::testing {

// Plays libcuda and NVRTC for tests, on a machine without either. Kernels are the plain C++ form of their texts,
// compiled by the system's compiler. Memory is at addresses that the processor cannot follow, and new memory is full of
// NaN. Every stream is a thread that does one thing after the other, each a while after it was asked for; how long is
// drawn by a seed, so streams overtake each other in another order for every seed. Copies read and write when they are
// done, not when they are begun: whoever does not wait where it must has wrong numbers.
class CudaStandIn {
 public:
  struct Options {
    int devices = 2;
    size_t memory = size_t{1} << 30;  // of each
    uint32_t seed = 1;
    int longest_delay_us = 100;  // 0: none
  };
  // The functions use the one that was made last. One at a time; drivers are gone before it is.
  explicit CudaStandIn(const Options& options);
  ~CudaStandIn();
  CudaStandIn(const CudaStandIn&) = delete;
  CudaStandIn& operator=(const CudaStandIn&) = delete;

  const cuda::Api& api() const;
  // The call of that name ("cuLaunchKernel") fails with this status, after it has worked `after` more times.
  void fail(const std::string& call, int status, int after = 0);
  int64_t launches() const;  // graphs' not counted
  int64_t graphs() const;
  int64_t copies() const;

  // Plays cuBLAS and cuDNN. cuDNN offers an algorithm that is not deterministic and one that needs too much memory
  // before the one that serves.
  static cuda::Libraries libraries();
  static int64_t library_calls();

  // For what plays libraries: the work is the stream's; where the processor finds the device's memory.
  static void begin(cuda::Stream stream, std::function<void()> work);
  static char* find(const void* address);
  // Of a call that may be told to fail.
  static int status_of(const char* call);

  struct State;

 private:
  State* state_;
};

}  // namespace weir::testing
