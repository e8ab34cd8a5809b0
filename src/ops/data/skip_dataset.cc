#include <algorithm>

#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// What comes after the first elements; nothing when the count is negative.
class SkipDataset final : public UnaryDataset {
 public:
  SkipDataset(DatasetPtr input, int64_t count) : UnaryDataset(std::move(input)), count_(count) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (count_ < 0) return 0;
    return n < 0 ? n : std::max<int64_t>(0, n - count_);
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<SkipDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override { return pass_first(c) && input_->next(c, out); }
      int64_t skip(const IterateContext& c, int64_t count) override {
        return pass_first(c) ? input_->skip(c, count) : 0;
      }
      // False when there is nothing behind the first elements.
      bool pass_first(const IterateContext& c) {
        if (dataset_.count_ < 0) return false;
        if (skipped < dataset_.count_) skipped += input_->skip(c, dataset_.count_ - skipped);
        return skipped == dataset_.count_;
      }
      int64_t skipped = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t count_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const SkipDataset>(dataset_input(c, 0), c.scalar<int64_t>(1)));
}

}  // namespace

OpDef skip_dataset_op() {
  return {.name = "SkipDataset",
          .inputs = "input_dataset:variant; count:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, count, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
