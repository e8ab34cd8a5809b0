#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

class ConcatenateDataset final : public Dataset {
 public:
  ConcatenateDataset(DatasetPtr first, DatasetPtr second, ElementSpec spec)
      : Dataset(std::move(spec)), parts_{std::move(first), std::move(second)} {}

  int64_t cardinality() const override {
    const int64_t a = parts_[0]->cardinality(), b = parts_[1]->cardinality();
    if (a == kInfiniteCardinality || b == kInfiniteCardinality) return kInfiniteCardinality;
    return a < 0 || b < 0 ? kUnknownCardinality : a + b;
  }

  IteratorPtr iterate(const IterateContext&, const std::string& place) const override {
    struct Iterator final : IteratorOf<ConcatenateDataset> {
      Iterator(const ConcatenateDataset& d, std::string p) : IteratorOf(d), place(std::move(p)) {}
      bool next(const IterateContext& c, Element& out) override {
        for (; part < 2; ++part, input.reset()) {
          if (!input) input = dataset_.parts_[part]->iterate(c, place + "[" + std::to_string(part) + "]");
          if (input->next(c, out)) return true;
        }
        return false;
      }
      int64_t skip(const IterateContext& c, int64_t count) override {
        int64_t skipped = 0;
        while (part < 2 && skipped < count) {
          if (!input) input = dataset_.parts_[part]->iterate(c, place + "[" + std::to_string(part) + "]");
          skipped += input->skip(c, count - skipped);
          if (skipped == count) break;
          ++part;
          input.reset();
        }
        return skipped;
      }
      bool ready() const override { return !input || input->ready(); }
      std::string place;
      int part = 0;
      IteratorPtr input;
    };
    return std::make_unique<Iterator>(*this, place);
  }

 private:
  DatasetPtr parts_[2];
};

void cpu(KernelContext& c) {
  DatasetPtr first = dataset_input(c, 0), second = dataset_input(c, 1);
  if (first->spec().types != second->spec().types) {
    throw invalid_argument("input dataset and dataset to concatenate have different output_types");
  }
  set_dataset(c, std::make_shared<const ConcatenateDataset>(std::move(first), std::move(second), declared_spec(c)));
}

}  // namespace

OpDef concatenate_dataset_op() {
  return {.name = "ConcatenateDataset",
          .inputs = "input_dataset:variant; another_dataset:variant",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, another_dataset, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
