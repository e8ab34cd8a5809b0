#pragma once

#include <map>
#include <mutex>
#include <string>

#include "ops/data/dataset.h"
#include "ops/summary/histogram.h"
#include "proto/summary.pb.h"

// What pipelines tell of themselves while they run: histograms by tag, for TensorBoard.
namespace weir::ops {

// Thread-safe; several iterators may add to one.
class StatsAggregator final : public Resource {
 public:
  std::string describe() const override { return "statistics of data sets"; }
  void add(const std::string& tag, double value) {
    std::lock_guard lock(mutex_);
    histograms_[tag].add(value);
  }
  // Everything since the beginning, a value for each tag.
  proto::Summary summary() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Histogram> histograms_;  // guarded by mutex_
};

// An aggregator as the data sets below a place of a pipeline see it.
struct StatsScope {
  ResourcePtr<StatsAggregator> aggregator;
  std::string prefix;  // of tags: "", or "name::"
};

}  // namespace weir::ops
