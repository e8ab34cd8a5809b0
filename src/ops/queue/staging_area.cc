#include "ops/queue/staging_area.h"

#include <algorithm>
#include <functional>

#include "base/errors.h"

namespace weir::ops {
namespace {

int64_t bytes_of(const std::vector<Tensor>& row) {
  size_t bytes = 0;
  for (const Tensor& t : row) bytes += t.valid() ? t.bytes() : 0;
  return static_cast<int64_t>(bytes);
}

void check_bytes(int64_t bytes, const StagingLimits& limits) {
  if (limits.bytes <= 0 || bytes <= limits.bytes) return;
  throw error(Code::ResourceExhausted,
              "Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a memory limit of "
              "'{}'.",
              bytes, limits.bytes);
}

void deliver_row(KernelContext& c, std::vector<Tensor>& row, int first) {
  if (static_cast<int>(row.size()) != c.outputs() - first) {
    throw invalid_argument("Mismatch stage/unstage: {} vs. {}", row.size(), c.outputs() - first);
  }
  for (size_t i = 0; i < row.size(); ++i) c.set_output(first + static_cast<int>(i), std::move(row[i]));
}

void check_order(const std::vector<int32_t>& indices) {
  if (std::adjacent_find(indices.begin(), indices.end(), std::greater_equal<>()) == indices.end()) return;
  throw invalid_argument("Indices are not strictly ordered");
}

}  // namespace

class StagingArea::Put final : public Visit {
 public:
  Put(StagingArea& area, Row row) : area_(&area), row_(std::move(row)), bytes_(bytes_of(row_)) {}
  bool ready() const override {
    const StagingLimits& limits = area_->limits_;
    return (limits.elements <= 0 || static_cast<int64_t>(area_->rows_.size()) < limits.elements) &&
           (limits.bytes <= 0 || area_->bytes_ + bytes_ <= limits.bytes);
  }
  Outcome attempt() override {
    if (!ready()) return Outcome::Waits;
    area_->rows_.push_back(std::move(row_));
    area_->bytes_ += bytes_;
    return Outcome::Done;
  }
  std::string_view name() const override { return "Stage"; }

 private:
  StagingArea* area_;
  Row row_;
  int64_t bytes_;
};

// Takes the first tuple, or looks at the one with an index.
class StagingArea::Get final : public Visit {
 public:
  Get(StagingArea& area, int64_t index, bool removes) : area_(&area), index_(index), removes_(removes) {}
  bool ready() const override { return index_ < static_cast<int64_t>(area_->rows_.size()); }
  Outcome attempt() override {
    if (!ready()) return Outcome::Waits;
    if (!removes_) {
      row_ = area_->rows_[static_cast<size_t>(index_)];
      return Outcome::Done;
    }
    row_ = std::move(area_->rows_.front());
    area_->rows_.pop_front();
    area_->bytes_ -= bytes_of(row_);
    return Outcome::Done;
  }
  void deliver(KernelContext& c) override { deliver_row(c, row_, 0); }
  std::string_view name() const override { return removes_ ? "Unstage" : "StagePeek"; }

 private:
  StagingArea* area_;
  int64_t index_;
  bool removes_;
  Row row_;
};

std::string StagingArea::describe() const { return fmt::format("staging area '{}' ({} elements)", name_, size()); }

void StagingArea::put(Row row, KernelContext& c, Completion done) {
  check_bytes(bytes_of(row), limits_);
  come(Side::Bringing, Put(*this, std::move(row)), c, done);
}
void StagingArea::get(KernelContext& c, Completion done) { come(Side::Taking, Get(*this, 0, true), c, done); }
void StagingArea::peek(int64_t index, KernelContext& c, Completion done) {
  if (index < 0) throw invalid_argument("the index {} is negative", index);
  come(Side::Taking, Get(*this, index, false), c, done);
}
int64_t StagingArea::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(rows_.size());
}
void StagingArea::clear() {
  change([&] {
    rows_.clear();
    bytes_ = 0;
  });
}

class StagingMap::Put final : public Visit {
 public:
  Put(StagingMap& map, int64_t key, std::vector<int32_t> indices, Row values)
      : map_(&map), key_(key), indices_(std::move(indices)), values_(std::move(values)), bytes_(bytes_of(values_)) {}
  bool ready() const override {
    const StagingLimits& limits = map_->limits_;
    const bool whole = indices_.size() == map_->components_;  // parts of tuples count by their size alone
    return (limits.bytes <= 0 || map_->bytes_ + bytes_ <= limits.bytes) &&
           (!whole || limits.elements <= 0 || static_cast<int64_t>(map_->complete_.size()) < limits.elements);
  }
  Outcome attempt() override {
    if (!ready()) return Outcome::Waits;
    map_->check_bounds(key_, indices_);
    auto [at, is_new] = map_->incomplete_.try_emplace(key_, Row(map_->components_));
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (!at->second[static_cast<size_t>(indices_[i])].valid()) continue;
      throw invalid_argument("The tensor for index '{}' for key '{}' was already initialized '{}'.", indices_[i], key_,
                             map_->components_);
    }
    for (size_t i = 0; i < indices_.size(); ++i) {
      at->second[static_cast<size_t>(indices_[i])] = std::move(values_[i]);
    }
    map_->bytes_ += bytes_;
    if (std::all_of(at->second.begin(), at->second.end(), [](const Tensor& t) { return t.valid(); })) {
      map_->complete_.try_emplace(key_, std::move(at->second));
      map_->incomplete_.erase(at);
    }
    return Outcome::Done;
  }
  std::string_view name() const override { return "MapStage"; }

 private:
  StagingMap* map_;
  int64_t key_;
  std::vector<int32_t> indices_;
  Row values_;
  int64_t bytes_;
};

class StagingMap::Take final : public Visit {
 public:
  Take(StagingMap& map, std::optional<int64_t> key, std::vector<int32_t> indices, bool removes)
      : map_(&map), key_(key), gives_key_(!key), indices_(std::move(indices)), removes_(removes) {}
  bool ready() const override { return key_ ? map_->complete_.contains(*key_) : !map_->complete_.empty(); }
  Outcome attempt() override {
    if (!ready()) return Outcome::Waits;
    auto at = key_ ? map_->complete_.find(*key_) : map_->complete_.begin();
    key_ = at->first;
    map_->check_bounds(*key_, indices_);
    for (int32_t index : indices_) {
      Tensor& value = at->second[static_cast<size_t>(index)];
      if (!value.valid()) {
        throw invalid_argument("Tensor at index '{}' for key '{}' has already been removed.", index, *key_);
      }
      values_.push_back(value);
    }
    if (!removes_) return Outcome::Done;
    for (int32_t index : indices_) at->second[static_cast<size_t>(index)] = Tensor();
    map_->bytes_ -= bytes_of(values_);
    if (std::none_of(at->second.begin(), at->second.end(), [](const Tensor& t) { return t.valid(); })) {
      map_->complete_.erase(at);
    }
    return Outcome::Done;
  }
  void deliver(KernelContext& c) override {
    if (gives_key_) c.set_output(0, Tensor(*key_));
    deliver_row(c, values_, gives_key_ ? 1 : 0);
  }
  std::string_view name() const override { return removes_ ? "MapUnstage" : "MapPeek"; }

 private:
  StagingMap* map_;
  std::optional<int64_t> key_;
  bool gives_key_;
  std::vector<int32_t> indices_;
  bool removes_;
  Row values_;
};

std::string StagingMap::describe() const { return fmt::format("staging area '{}' ({} elements)", name_, size()); }

void StagingMap::expect_components(size_t count) {
  std::lock_guard lock(mutex_);
  components_ = std::max(components_, count);
}

void StagingMap::check_bounds(int64_t key, const std::vector<int32_t>& indices) const {
  for (int32_t index : indices) {
    if (index >= 0 && static_cast<size_t>(index) < components_) continue;
    throw invalid_argument("Index '{}' for key '{}' was out of bounds '{}'.", index, key, components_);
  }
}

void StagingMap::put(int64_t key, std::vector<int32_t> indices, Row values, KernelContext& c, Completion done) {
  check_order(indices);
  if (indices.size() != values.size()) {
    throw invalid_argument("{} indices and {} values are given", indices.size(), values.size());
  }
  check_bytes(bytes_of(values), limits_);
  come(Side::Bringing, Put(*this, key, std::move(indices), std::move(values)), c, done);
}
void StagingMap::pop(std::optional<int64_t> key, std::vector<int32_t> indices, KernelContext& c, Completion done) {
  check_order(indices);
  come(Side::Taking, Take(*this, key, std::move(indices), true), c, done);
}
void StagingMap::peek(int64_t key, std::vector<int32_t> indices, KernelContext& c, Completion done) {
  check_order(indices);
  come(Side::Taking, Take(*this, key, std::move(indices), false), c, done);
}
int64_t StagingMap::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(complete_.size());
}
int64_t StagingMap::incomplete_size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(incomplete_.size());
}
void StagingMap::clear() {
  change([&] {
    complete_.clear();
    incomplete_.clear();
    bytes_ = 0;
  });
}

}  // namespace weir::ops
