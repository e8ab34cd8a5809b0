#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The rows of every element as elements.
class UnbatchDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<UnbatchDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        while (row >= rows) {
          c.check();
          if (!input_->next(c, batch)) return false;
          row = 0;
          rows = common_rows(batch);
        }
        out.clear();
        for (const Tensor& component : batch) out.push_back(shared_row(component, row));
        ++row;
        return true;
      }
      Element batch;
      int64_t row = 0, rows = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const UnbatchDataset>(dataset_input(c, 0), declared_spec(c)));
}

}  // namespace

OpDef unbatch_dataset_op() {
  return {.name = "UnbatchDataset",
          .inputs = "input_dataset:variant",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
