#pragma once

#include "devices/cpu/philox.h"

namespace weir::ops {

// The words of a Philox stream one at a time.
class WordStream {
 public:
  explicit WordStream(const cpu::Philox& philox) : philox_(philox) {}
  uint32_t next() {
    if (at_ == kWords) {
      philox_.next(words_, kWords / 4);
      at_ = 0;
    }
    return words_[at_++];
  }
  // In [0, 1), from two words, as TensorFlow makes it.
  double next_double();

 private:
  static constexpr int kWords = 64;
  cpu::Philox philox_;
  uint32_t words_[kWords];
  int at_ = kWords;
};

inline double WordStream::next_double() {
  uint64_t high = next() & 0xfffffu, low = next();
  return static_cast<double>(high << 32 | low) * 0x1p-52;
}

}  // namespace weir::ops
