#include "ops/queue/elements.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "devices/cpu/philox.h"

namespace weir::ops {
namespace {

// Rows in a ring that doubles when it is full.
class Fifo final : public Elements {
 public:
  explicit Fifo(size_t components) : components_(components), ring_(kFirst * components) {}

  int64_t size() const override { return static_cast<int64_t>(size_); }
  void put(std::span<Tensor> row) override {
    make_room();
    std::move(row.begin(), row.end(), at(size_++));
  }
  void take(std::span<Tensor> row) override {
    std::move(at(0), at(0) + static_cast<int64_t>(components_), row.begin());
    begin_ = (begin_ + 1) % rows();
    --size_;
  }
  void put_back(std::span<Tensor> row) override {
    make_room();
    begin_ = (begin_ + rows() - 1) % rows();
    ++size_;
    std::move(row.begin(), row.end(), at(0));
  }
  bool keeps_neighbours() const override { return true; }

 private:
  static constexpr size_t kFirst = 16;
  size_t rows() const { return ring_.size() / components_; }
  std::vector<Tensor>::iterator at(size_t index) {
    return ring_.begin() + static_cast<int64_t>((begin_ + index) % rows() * components_);
  }
  void make_room() {
    if (size_ < rows()) return;
    std::vector<Tensor> larger(2 * ring_.size());
    for (size_t i = 0; i < size_; ++i) {
      std::move(at(i), at(i) + static_cast<int64_t>(components_),
                larger.begin() + static_cast<int64_t>(i * components_));
    }
    ring_ = std::move(larger);
    begin_ = 0;
  }

  const size_t components_;
  std::vector<Tensor> ring_;
  size_t begin_ = 0, size_ = 0;
};

// The place of the element that leaves is taken by the last one, as in TensorFlow.
class Shuffled final : public Elements {
 public:
  Shuffled(size_t components, int64_t seed, int64_t seed2) : components_(components), random_(seed, seed2) {}

  int64_t size() const override { return static_cast<int64_t>(rows_.size() / components_); }
  void put(std::span<Tensor> row) override {
    rows_.insert(rows_.end(), std::make_move_iterator(row.begin()), std::make_move_iterator(row.end()));
  }
  void take(std::span<Tensor> row) override {
    const auto width = static_cast<int64_t>(components_);
    auto chosen = rows_.begin() + static_cast<int64_t>(next_word() % static_cast<uint64_t>(size())) * width;
    auto last = rows_.end() - width;
    std::move(chosen, chosen + width, row.begin());
    if (chosen != last) std::move(last, rows_.end(), chosen);
    rows_.erase(last, rows_.end());
  }
  void put_back(std::span<Tensor> row) override { put(row); }
  bool keeps_neighbours() const override { return false; }

 private:
  static constexpr size_t kWords = 4;  // of a block
  uint32_t next_word() {
    if (used_ == kWords) {
      random_.reserve(1).next(words_, 1);
      used_ = 0;
    }
    return words_[used_++];
  }

  const size_t components_;
  std::vector<Tensor> rows_;
  cpu::PhiloxState random_;
  uint32_t words_[kWords] = {};
  size_t used_ = kWords;
};

class ByPriority final : public Elements {
 public:
  explicit ByPriority(size_t components) : components_(components) {}

  int64_t size() const override { return static_cast<int64_t>(heap_.size()); }
  void put(std::span<Tensor> row) override {
    const int64_t priority = row[0].scalar<int64_t>();
    if (free_.empty()) {
      free_.push_back(rows_.size());
      rows_.resize(rows_.size() + components_);
    }
    const size_t place = free_.back();
    free_.pop_back();
    std::move(row.begin(), row.end(), rows_.begin() + static_cast<int64_t>(place));
    heap_.push_back({priority, place});
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }
  void take(std::span<Tensor> row) override {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    const size_t place = heap_.back().place;
    heap_.pop_back();
    free_.push_back(place);
    auto from = rows_.begin() + static_cast<int64_t>(place);
    std::move(from, from + static_cast<int64_t>(components_), row.begin());
  }
  void put_back(std::span<Tensor> row) override { put(row); }
  bool keeps_neighbours() const override { return false; }

 private:
  struct Entry {
    int64_t priority;
    size_t place;  // in rows_
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a.priority > b.priority; }
  };

  const size_t components_;
  std::vector<Entry> heap_;
  std::vector<Tensor> rows_;
  std::vector<size_t> free_;
};

}  // namespace

std::unique_ptr<Elements> make_fifo_elements(size_t components) { return std::make_unique<Fifo>(components); }

std::unique_ptr<Elements> make_shuffled_elements(size_t components, int64_t seed, int64_t seed2) {
  return std::make_unique<Shuffled>(components, seed, seed2);
}

std::unique_ptr<Elements> make_priority_elements(size_t components) { return std::make_unique<ByPriority>(components); }

}  // namespace weir::ops
