#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// A data set with rewrites that TensorFlow's optimizer would make. One of them changes the order of elements, and
// programs that compare orders with TensorFlow's have it by default; the others are advice.
class OptimizeDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  int64_t cardinality() const override { return input()->cardinality(); }
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    c.pipeline.fuses_repeated_shuffles = true;
    return input()->iterate(c, place);
  }
};

void cpu(KernelContext& c) {
  DatasetPtr input = dataset_input(c, 0);
  const auto* names = c.input<std::string>(1);
  bool fuses = false;
  for (int64_t i = 0; i < c.elements(1); ++i) fuses |= names[i] == "shuffle_and_repeat_fusion";
  set_dataset(c, fuses ? std::make_shared<const OptimizeDataset>(std::move(input)) : input);
}

}  // namespace

OpDef optimize_dataset_op() {
  return {.name = "OptimizeDataset",
          .inputs = "input_dataset:variant; optimizations:string",
          .outputs = "handle:variant",
          .attrs = "output_types:list(type)>=1; output_shapes:list(shape)>=1; optimization_configs:list(string)=[]",
          .host = "input_dataset, optimizations, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
