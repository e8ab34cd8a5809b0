#include <algorithm>

#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The first elements; all of them when the count is negative.
class TakeDataset final : public UnaryDataset {
 public:
  TakeDataset(DatasetPtr input, int64_t count) : UnaryDataset(std::move(input)), count_(count) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (count_ < 0) return n;
    return n == kInfiniteCardinality ? count_ : n < 0 ? n : std::min(n, count_);
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<TakeDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        if (!input_ || (dataset_.count_ >= 0 && taken >= dataset_.count_) || !input_->next(c, out)) {
          input_.reset();  // ends what works ahead
          return false;
        }
        ++taken;
        return true;
      }
      int64_t skip(const IterateContext& c, int64_t count) override {
        if (dataset_.count_ >= 0) count = std::min(count, dataset_.count_ - taken);
        const int64_t skipped = input_ ? input_->skip(c, count) : 0;
        taken += skipped;
        return skipped;
      }
      bool ready() const override { return !input_ || input_->ready(); }
      int64_t taken = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t count_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const TakeDataset>(dataset_input(c, 0), c.scalar<int64_t>(1)));
}

}  // namespace

OpDef take_dataset_op() {
  return {.name = "TakeDataset",
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
