#pragma once

#include <cstdint>
#include <mutex>

#include "base/thread_pool.h"

namespace weir::cpu {

// The Philox 4x32-10 generator (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): block i of a
// stream is a function of the key and the counter i, so that threads can start anywhere in it. Key and counter are laid
// out as TensorFlow does, and so are the distributions below: equal seeds give TensorFlow's numbers.
struct Philox {
  uint64_t key = 0;
  uint64_t counter_low = 0;
  uint64_t counter_high = 0;

  Philox(uint64_t seed, uint64_t seed2) : key(seed), counter_high(seed2) {}

  // Moves on by `blocks` blocks of 128 bits.
  void skip(uint64_t blocks) {
    counter_low += blocks;
    if (counter_low < blocks) ++counter_high;
  }

  // The next `blocks` blocks, four words each.
  void next(uint32_t* words, int64_t blocks);
};

// The generator of one random node, which moves on from run to run. Thread-safe.
class PhiloxState {
 public:
  // With both seeds 0 the stream differs from process to process.
  PhiloxState(int64_t seed, int64_t seed2);

  // Returns the generator as it stands and moves on by `blocks` blocks.
  Philox reserve(int64_t blocks);

  // The same for a fill of `outputs` elements. TensorFlow sets 256 blocks aside for each, whatever the distribution, so
  // that one which rejects samples never meets the next run's.
  Philox reserve_outputs(int64_t outputs) {
    return reserve(static_cast<int64_t>(static_cast<uint64_t>(outputs) * 256));
  }

 private:
  std::mutex mutex_;
  Philox generator_;
};

// Fills out[0, n) as TensorFlow's CPU kernels do; the numbers depend on the generator and n alone, not on the threads.
// T is float, double, Half or BFloat16.

// Uniform in [0, 1): the same bits as TensorFlow.
template <class T>
void fill_uniform(Philox generator, T* out, int64_t n, ThreadPool& pool);

// Normal with mean 0 and deviation 1: TensorFlow's up to the rounding of log, sin and cos.
template <class T>
void fill_normal(Philox generator, T* out, int64_t n, ThreadPool& pool);

// The same, with values outside (-2, 2) drawn again.
template <class T>
void fill_truncated_normal(Philox generator, T* out, int64_t n, ThreadPool& pool);

// Integers in [low, high), slightly uneven as TensorFlow's are: words modulo the range. T is int32_t or int64_t.
// REQUIRES: low < high.
template <class T>
void fill_uniform_int(Philox generator, T low, T high, T* out, int64_t n, ThreadPool& pool);

}  // namespace weir::cpu
