#include "ops/summary/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weir::ops {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

// The positive limits x[0] < x[1] < ...; the histogram's limits are -x, reversed, then 0, then x.
//
// A search through 776 limits for each value would be slow, so a table over the exponent and the first four bits of the
// fraction says where to begin: such a range is at most 1/16 wide, limits lie 1/10 apart, so at most one more follows.
class Limits {
 public:
  Limits() {
    for (double x = 1e-12; x < 1e20; x *= 1.1) limits_.push_back(x);
    limits_.push_back(kLargest);
    for (size_t key = 0; key < kKeys; ++key) {
      auto low = std::bit_cast<double>(static_cast<uint64_t>(key) << kShift);
      first_[key] = static_cast<uint16_t>(std::lower_bound(limits_.begin(), limits_.end(), low) - limits_.begin());
    }
  }

  size_t size() const { return limits_.size(); }
  double operator[](size_t i) const { return limits_[i]; }
  // How many limits are less than `x`, and how many are not greater; x >= 0.
  size_t count_less(double x) const {
    size_t i = first_[key(x)];
    while (i < limits_.size() && limits_[i] < x) ++i;
    return i;
  }
  size_t count_not_greater(double x) const {
    size_t i = first_[key(x)];
    while (i < limits_.size() && limits_[i] <= x) ++i;
    return i;
  }

 private:
  static constexpr int kShift = 48;
  static constexpr size_t kKeys = size_t{1} << 15;
  static size_t key(double x) { return std::bit_cast<uint64_t>(std::abs(x)) >> kShift; }  // -0.0 is 0

  std::vector<double> limits_;
  std::array<uint16_t, kKeys> first_;
};

const Limits& limits() {
  static const Limits instance;
  return instance;
}

double bucket_limit(size_t bucket) {
  const Limits& x = limits();
  if (bucket < x.size()) return -x[x.size() - 1 - bucket];
  return bucket == x.size() ? 0 : x[bucket - x.size() - 1];
}

}  // namespace

Histogram::Histogram() : min_(kLargest), max_(-kLargest), buckets_(2 * limits().size() + 1) {}

void Histogram::add(double value) {
  const Limits& x = limits();
  // The first limit that is greater than the value; the largest double goes into the last bucket all the same.
  size_t bucket = value < 0 ? x.size() - x.count_less(-value) : x.size() + 1 + x.count_not_greater(value);
  buckets_[std::min(bucket, buckets_.size() - 1)] += 1;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += 1;
  sum_ += value;
  sum_squares_ += value * value;
}

void Histogram::encode(proto::HistogramProto& message) const {
  message.set_min(min_);
  message.set_max(max_);
  message.set_num(count_);
  message.set_sum(sum_);
  message.set_sum_squares(sum_squares_);
  for (size_t i = 0; i < buckets_.size(); ++i) {
    bool merges = buckets_[i] == 0 && i + 1 < buckets_.size() && buckets_[i + 1] == 0;
    if (merges) continue;
    message.add_bucket_limit(bucket_limit(i));
    message.add_bucket(buckets_[i]);
  }
}

}  // namespace weir::ops
