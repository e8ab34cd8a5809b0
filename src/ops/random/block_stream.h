#pragma once

#include <algorithm>
#include <cmath>

#include "devices/cpu/philox.h"

namespace weir::ops {

// Numbers in double precision for one output of a fill whose distribution rejects some: uniform and normal ones are
// taken from the same blocks, two from each, the second first, as TensorFlow does.
class BlockStream {
 public:
  // The stream of output `n`, for which 256 blocks are set aside.
  BlockStream(const cpu::Philox& philox, int64_t n) : philox_(philox) { philox_.skip(static_cast<uint64_t>(n) * 256); }

  double uniform() {  // in [0, 1)
    if (uniforms_left_ == 0) {
      next();
      uniforms_[0] = fraction(0);
      uniforms_[1] = fraction(2);
      uniforms_left_ = 2;
    }
    return uniforms_[--uniforms_left_];
  }

  double normal() {
    if (normals_left_ == 0) {
      next();
      constexpr double kPi = 3.14159265358979323846;
      const double radius = std::sqrt(-2.0 * std::log(std::max(fraction(0), 1e-7))), angle = 2 * kPi * fraction(2);
      normals_[0] = std::sin(angle) * radius;
      normals_[1] = std::cos(angle) * radius;
      normals_left_ = 2;
    }
    return normals_[--normals_left_];
  }

 private:
  void next() { philox_.next(words_, 1); }
  double fraction(int at) const {
    const uint64_t high = words_[at] & 0xfffffu;
    return static_cast<double>(high << 32 | words_[at + 1]) * 0x1p-52;
  }

  cpu::Philox philox_;
  uint32_t words_[4];
  double uniforms_[2] = {}, normals_[2] = {};
  int uniforms_left_ = 0, normals_left_ = 0;
};

}  // namespace weir::ops
