#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Leaves out elements that cannot be had. Being cancelled is no such error.
class IgnoreErrorsDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<IgnoreErrorsDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        for (;;) {
          c.check();
          try {
            return input_->next(c, out);
          } catch (const Error& e) {
            if (e.code() == Code::Cancelled || e.code() == Code::DeadlineExceeded) throw;
          }
        }
      }
    };
    return std::make_unique<Iterator>(*this, c, place);
  }
};

void cpu(KernelContext& c) { set_dataset(c, std::make_shared<const IgnoreErrorsDataset>(dataset_input(c, 0))); }

}  // namespace

OpDef ignore_errors_dataset_op() {
  return {.name = "IgnoreErrorsDataset",
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
