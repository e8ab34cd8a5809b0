#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Elements of several data sets in the order that another data set of numbers says. Those of a data set that has ended
// are left out.
class DirectedInterleaveDataset final : public Dataset {
 public:
  DirectedInterleaveDataset(DatasetPtr selector, std::vector<DatasetPtr> parts, ElementSpec spec)
      : Dataset(std::move(spec)), selector_(std::move(selector)), parts_(std::move(parts)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : IteratorOf<DirectedInterleaveDataset> {
      Iterator(const DirectedInterleaveDataset& d, const IterateContext& c, const std::string& place)
          : IteratorOf(d), selector(d.selector_->iterate(c, place + "/")) {
        for (size_t i = 0; i < d.parts_.size(); ++i) {
          inputs.push_back(d.parts_[i]->iterate(c, place + "[" + std::to_string(i) + "]"));
        }
        open = inputs.size();
      }
      bool next(const IterateContext& c, Element& out) override {
        Element choice;
        while (open > 0 && selector->next(c, choice)) {
          c.check();
          const auto chosen = choice[0].scalar<int64_t>();
          if (chosen < 0 || chosen >= static_cast<int64_t>(inputs.size())) {
            throw invalid_argument("Selector index out of range: {} >= {}", chosen, inputs.size());
          }
          IteratorPtr& input = inputs[static_cast<size_t>(chosen)];
          if (!input) continue;
          if (input->next(c, out)) return true;
          input.reset();
          --open;
        }
        return false;
      }
      IteratorPtr selector;
      std::vector<IteratorPtr> inputs;
      size_t open = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  DatasetPtr selector_;
  std::vector<DatasetPtr> parts_;
};

void cpu(KernelContext& c) {
  DatasetPtr selector = dataset_input(c, 0);
  const ElementSpec& spec = selector->spec();
  if (spec.types.size() != 1 || spec.types[0] != DType::Int64 || !spec.shapes[0].compatible(Shape{})) {
    throw invalid_argument("The selector dataset elements must be scalar DT_INT64 tensors.");
  }
  std::vector<DatasetPtr> parts;
  for (int i = 1; i < c.inputs(); ++i) {
    parts.push_back(dataset_input(c, i));
    if (parts.back()->spec().types != parts[0]->spec().types) {
      throw invalid_argument("All inputs must have the same output_dtypes.");
    }
  }
  set_dataset(
      c, std::make_shared<const DirectedInterleaveDataset>(std::move(selector), std::move(parts), declared_spec(c)));
}

}  // namespace

OpDef directed_interleave_dataset_op() {
  return {.name = "DirectedInterleaveDataset",
          .inputs = "selector_input_dataset:variant; data_input_datasets:N*variant",
          .outputs = "handle:variant",
          .attrs = "output_types:list(type)>=1; output_shapes:list(shape)>=1; N:int>=1",
          .host = "selector_input_dataset, data_input_datasets, handle",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
