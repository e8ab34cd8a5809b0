#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/queue/meeting.h"

namespace weir::ops {

// How much a staging area holds; 0: any number, or size.
struct StagingLimits {
  int64_t elements = 0, bytes = 0;
};

// Tuples of tensors that one step leaves for another, first in, first out. Thread-safe; errors are TensorFlow's.
class StagingArea final : public Meeting {
 public:
  using Row = std::vector<Tensor>;
  StagingArea(std::string name, StagingLimits limits)
      : Meeting(/*in_order=*/false), name_(std::move(name)), limits_(limits) {}

  std::string describe() const override;
  void put(Row row, KernelContext& c, Completion done);
  void get(KernelContext& c, Completion done);
  void peek(int64_t index, KernelContext& c, Completion done);
  int64_t size() const;
  void clear();

 private:
  class Put;
  class Get;
  const std::string name_;
  const StagingLimits limits_;
  std::deque<Row> rows_;  // both guarded by mutex_
  int64_t bytes_ = 0;
};

// The same under keys, the tensors of a tuple in one go or in parts, given and taken by their indices.
class StagingMap final : public Meeting {
 public:
  using Row = std::vector<Tensor>;  // invalid: has not come, or was taken
  StagingMap(std::string name, StagingLimits limits)
      : Meeting(/*in_order=*/false), name_(std::move(name)), limits_(limits) {}
  // Operations that take some of the tensors know no others; those that put tuples in know all.
  void expect_components(size_t count);

  std::string describe() const override;
  void put(int64_t key, std::vector<int32_t> indices, Row values, KernelContext& c, Completion done);
  // Without a key: that of the smallest key, which becomes output 0.
  void pop(std::optional<int64_t> key, std::vector<int32_t> indices, KernelContext& c, Completion done);
  void peek(int64_t key, std::vector<int32_t> indices, KernelContext& c, Completion done);
  int64_t size() const;
  int64_t incomplete_size() const;
  void clear();

 private:
  class Put;
  class Take;
  void check_bounds(int64_t key, const std::vector<int32_t>& indices) const;  // REQUIRES: the lock is held
  const std::string name_;
  const StagingLimits limits_;
  size_t components_ = 0;  // all guarded by mutex_
  std::map<int64_t, Row> complete_, incomplete_;
  int64_t bytes_ = 0;
};

}  // namespace weir::ops
