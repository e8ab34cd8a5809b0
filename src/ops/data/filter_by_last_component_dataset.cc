#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The elements whose last component is true, without it.
class FilterByLastComponentDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<FilterByLastComponentDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        for (;;) {
          c.check();
          if (!input_->next(c, out)) return false;
          const Element last = {out.back()};
          out.pop_back();
          if (truth_of(last)) return true;
        }
      }
    };
    return std::make_unique<Iterator>(*this, c, place);
  }
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const FilterByLastComponentDataset>(dataset_input(c, 0), declared_spec(c)));
}

}  // namespace

OpDef filter_by_last_component_dataset_op() {
  return {.name = "FilterByLastComponentDataset",
          .inputs = "input_dataset:variant",
          .outputs = "output:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, output",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
