#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

class RangeDataset final : public Dataset {
 public:
  RangeDataset(int64_t start, int64_t stop, int64_t step, ElementSpec spec)
      : Dataset(std::move(spec)), start_(start), count_(count(start, stop, step)), step_(step) {}
  int64_t cardinality() const override { return count_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<RangeDataset> {
      using IteratorOf::IteratorOf;
      bool next(const IterateContext&, Element& out) override {
        if (at >= dataset_.count_) return false;
        out.resize(1);
        out[0] = Tensor(dataset_.start_ + at++ * dataset_.step_);
        return true;
      }
      int64_t skip(const IterateContext&, int64_t count) override {
        count = std::min(count, dataset_.count_ - at);
        at += count;
        return count;
      }
      int64_t at = 0;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  // Without overflow: the distance fits in unsigned numbers.
  static int64_t count(int64_t start, int64_t stop, int64_t step) {
    if (step > 0 ? start >= stop : start <= stop) return 0;
    const uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                       : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    return static_cast<int64_t>(std::min<uint64_t>((distance - 1) / stride + 1, INT64_MAX));
  }
  int64_t start_, count_, step_;
};

void cpu(KernelContext& c) {
  if (c.scalar<int64_t>(2) == 0) throw invalid_argument("step must be a non-zero integer.");
  set_dataset(c, std::make_shared<const RangeDataset>(c.scalar<int64_t>(0), c.scalar<int64_t>(1), c.scalar<int64_t>(2),
                                                      declared_spec(c)));
}

}  // namespace

OpDef range_dataset_op() {
  return {.name = "RangeDataset",
          .inputs = "start:int64; stop:int64; step:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "start, stop, step, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
