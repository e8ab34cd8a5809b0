#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

class MapDataset final : public UnaryDataset {
 public:
  MapDataset(DatasetPtr input, CalledFunction f, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), f_(std::move(f)) {}
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<MapDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        if (!input_->next(c, element)) return false;
        dataset_.f_(c, element, out);
        element.clear();
        return true;
      }
      int64_t skip(const IterateContext& c, int64_t count) override {
        return dataset_.f_.stateful(c) ? ElementIterator::skip(c, count) : input_->skip(c, count);
      }
      Element element;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  CalledFunction f_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const MapDataset>(
                     dataset_input(c, 0), function_input(c, "f", 1, types_of_list(c, "Targuments")), declared_spec(c)));
}

}  // namespace

OpDef map_dataset_op() {
  return {.name = "MapDataset",
          .inputs = "input_dataset:variant; other_arguments:Targuments",
          .outputs = "handle:variant",
          .attrs =
              "f:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1; "
              "use_inter_op_parallelism:bool=True; preserve_cardinality:bool=False",
          .host = "input_dataset, other_arguments, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
