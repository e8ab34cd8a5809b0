#pragma once

#include <deque>

#include "ops/data/background.h"

namespace weir::ops {

// Elements of `input` that a thread makes ahead, at most `size` of them; a negative size grows with the need.
class PrefetchIterator final : public ElementIterator {
 public:
  PrefetchIterator(const IterateContext& c, IteratorPtr input, int64_t size);
  ~PrefetchIterator() override { background_.end(); }
  bool next(const IterateContext& c, Element& out) override;
  int64_t skip(const IterateContext& c, int64_t count) override;
  bool ready() const override;

 private:
  void work(const IterateContext& c);

  IteratorPtr input_;
  mutable Background background_;
  // Guarded by the background's mutex:
  std::deque<Made> made_;
  size_t size_;
  bool grows_, ended_ = false;
};

}  // namespace weir::ops
