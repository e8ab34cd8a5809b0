#include <algorithm>

#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The elements again and again: `count` times, or without end.
class RepeatDataset final : public UnaryDataset {
 public:
  RepeatDataset(DatasetPtr input, int64_t count) : UnaryDataset(std::move(input)), count_(count) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (n == 0 || count_ == 0) return 0;
    if (count_ < 0) return kInfiniteCardinality;
    return n < 0 ? n : n * count_;
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    // Data sets that functions make, whose places have braces, are out of the optimizer's sight.
    const bool in_function = place.find('{') != std::string::npos;
    if (c.pipeline.fuses_repeated_shuffles && !in_function && count_ != 0 && count_ != 1) {
      if (DatasetPtr fused = input()->repeated(std::max<int64_t>(count_, -1))) return fused->iterate(c, place + "/");
    }
    struct Iterator final : IteratorOf<RepeatDataset> {
      Iterator(const RepeatDataset& d, std::string p) : IteratorOf(d), place(std::move(p) + "/") {}
      bool next(const IterateContext& c, Element& out) override {
        const int64_t count = dataset_.count_;
        while (count < 0 || epoch < count) {
          if (!input) {
            input = dataset_.input()->iterate(c, place);
            first = true;
          }
          if (input->next(c, out)) {
            first = false;
            return true;
          }
          input.reset();
          ++epoch;
          if (first && count < 0) {  // nothing repeated for ever
            epoch = 0;
            return false;
          }
          c.check();
        }
        return false;
      }
      int64_t skip(const IterateContext& c, int64_t count) override {
        int64_t skipped = 0;
        while (skipped < count) {
          if (input) skipped += input->skip(c, count - skipped);
          Element element;
          if (skipped == count || !next(c, element)) break;  // which begins the next epoch
          ++skipped;
        }
        return skipped;
      }
      bool ready() const override { return !input || input->ready(); }
      std::string place;
      IteratorPtr input;
      int64_t epoch = 0;
      bool first = true;
    };
    return std::make_unique<Iterator>(*this, place);
  }

 private:
  int64_t count_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const RepeatDataset>(dataset_input(c, 0), c.scalar<int64_t>(1)));
}

}  // namespace

OpDef repeat_dataset_op() {
  return {.name = "RepeatDataset",
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
