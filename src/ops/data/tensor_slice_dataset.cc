#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The rows of the tensors, one after the other. They share the tensors' memory.
class TensorSliceDataset final : public Dataset {
 public:
  TensorSliceDataset(Element components, ElementSpec spec)
      : Dataset(std::move(spec)), components_(std::move(components)), rows_(common_rows(components_)) {}
  int64_t cardinality() const override { return rows_; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<TensorSliceDataset> {
      using IteratorOf::IteratorOf;
      bool next(const IterateContext&, Element& out) override {
        if (row >= dataset_.rows_) return false;
        out.clear();
        for (const Tensor& component : dataset_.components_) out.push_back(shared_row(component, row));
        ++row;
        return true;
      }
      int64_t skip(const IterateContext&, int64_t count) override {
        count = std::min(count, dataset_.rows_ - row);
        row += count;
        return count;
      }
      int64_t row = 0;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  Element components_;
  int64_t rows_;
};

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.require_min_rank(i, 1);
  infer_dataset<>(c);
}

void cpu(KernelContext& c) {
  Element components;
  for (int i = 0; i < c.inputs(); ++i) components.push_back(c.input_tensor(i));
  set_dataset(c, std::make_shared<const TensorSliceDataset>(std::move(components), declared_spec(c)));
}

}  // namespace

OpDef tensor_slice_dataset_op() {
  return {.name = "TensorSliceDataset",
          .inputs = "components:Toutput_types",
          .outputs = "handle:variant",
          .attrs = "Toutput_types:list(type)>=1; output_shapes:list(shape)>=1",
          .flags = "stateful",
          .host = "components, handle",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
