#pragma once

#include <vector>

#include "proto/summary.pb.h"

namespace weir::ops {

// Counts values in TensorFlow's buckets, whose limits grow by a tenth from 1e-12 to 1e20 on both sides of zero.
class Histogram {
 public:
  Histogram();
  void add(double value);  // finite
  // Neighbouring empty buckets become one.
  void encode(proto::HistogramProto& message) const;

 private:
  double min_, max_, count_ = 0, sum_ = 0, sum_squares_ = 0;
  std::vector<double> buckets_;
};

}  // namespace weir::ops
