#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Elements that stand at the same place, side by side, until one of the data sets ends.
class ZipDataset final : public Dataset {
 public:
  ZipDataset(std::vector<DatasetPtr> parts, ElementSpec spec) : Dataset(std::move(spec)), parts_(std::move(parts)) {}

  int64_t cardinality() const override {
    int64_t least = kInfiniteCardinality;
    for (const DatasetPtr& part : parts_) {
      const int64_t n = part->cardinality();
      if (n == kUnknownCardinality) return n;
      if (n != kInfiniteCardinality && (least == kInfiniteCardinality || n < least)) least = n;
    }
    return least;
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : IteratorOf<ZipDataset> {
      Iterator(const ZipDataset& d, const IterateContext& c, const std::string& place) : IteratorOf(d) {
        for (size_t i = 0; i < d.parts_.size(); ++i) {
          inputs.push_back(d.parts_[i]->iterate(c, place + "[" + std::to_string(i) + "]"));
        }
      }
      bool next(const IterateContext& c, Element& out) override {
        if (inputs.empty()) return false;
        out.clear();
        Element part;
        for (const IteratorPtr& input : inputs) {
          if (!input->next(c, part)) {
            inputs.clear();  // ends what works ahead
            return false;
          }
          for (Tensor& component : part) out.push_back(std::move(component));
        }
        return true;
      }
      int64_t skip(const IterateContext& c, int64_t count) override {
        for (const IteratorPtr& input : inputs) count = input->skip(c, count);
        return inputs.empty() ? 0 : count;
      }
      bool ready() const override {
        for (const IteratorPtr& input : inputs) {
          if (!input->ready()) return false;
        }
        return true;
      }
      std::vector<IteratorPtr> inputs;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  std::vector<DatasetPtr> parts_;
};

void cpu(KernelContext& c) {
  std::vector<DatasetPtr> parts;
  for (int i = 0; i < c.inputs(); ++i) parts.push_back(dataset_input(c, i));
  set_dataset(c, std::make_shared<const ZipDataset>(std::move(parts), declared_spec(c)));
}

}  // namespace

OpDef zip_dataset_op() {
  return {.name = "ZipDataset",
          .inputs = "input_datasets:N*variant",
          .outputs = "handle:variant",
          .attrs = "output_types:list(type)>=1; output_shapes:list(shape)>=1; N:int>=1",
          .host = "input_datasets, handle",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
