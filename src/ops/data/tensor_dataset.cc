#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// One element: the tensors themselves.
class TensorDataset final : public Dataset {
 public:
  TensorDataset(Element element, ElementSpec spec) : Dataset(std::move(spec)), element_(std::move(element)) {}
  int64_t cardinality() const override { return 1; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<TensorDataset> {
      using IteratorOf::IteratorOf;
      bool next(const IterateContext&, Element& out) override {
        if (std::exchange(done, true)) return false;
        out = dataset_.element_;
        return true;
      }
      bool done = false;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  Element element_;
};

void cpu(KernelContext& c) {
  Element element;
  for (int i = 0; i < c.inputs(); ++i) element.push_back(c.input_tensor(i));
  set_dataset(c, std::make_shared<const TensorDataset>(std::move(element), declared_spec(c)));
}

}  // namespace

OpDef tensor_dataset_op() {
  return {.name = "TensorDataset",
          .inputs = "components:Toutput_types",
          .outputs = "handle:variant",
          .attrs = "Toutput_types:list(type)>=1; output_shapes:list(shape)>=1",
          .flags = "stateful",
          .host = "components, handle",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
