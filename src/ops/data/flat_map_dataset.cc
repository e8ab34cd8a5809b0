#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The elements of the data sets that f makes of the elements, one data set after the other.
class FlatMapDataset final : public UnaryDataset {
 public:
  FlatMapDataset(DatasetPtr input, CalledFunction f, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), f_(std::move(f)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<FlatMapDataset> {
      Iterator(const FlatMapDataset& d, const IterateContext& c, const std::string& p)
          : UnaryIterator(d, c, p), place(p) {}
      bool next(const IterateContext& c, Element& out) override {
        for (;;) {
          if (current && current->next(c, out)) return true;
          current.reset();
          c.check();
          if (!input_->next(c, element)) return false;
          Element made;
          dataset_.f_(c, element, made);
          current = dataset_of(made, "FlatMapDataset")->iterate(c, place + "{" + std::to_string(at++) + "}");
        }
      }
      bool ready() const override { return current ? current->ready() : input_->ready(); }
      std::string place;
      Element element;
      IteratorPtr current;
      int64_t at = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  CalledFunction f_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const FlatMapDataset>(
                     dataset_input(c, 0), function_input(c, "f", 1, types_of_list(c, "Targuments")), declared_spec(c)));
}

}  // namespace

OpDef flat_map_dataset_op() {
  return {.name = "FlatMapDataset",
          .inputs = "input_dataset:variant; other_arguments:Targuments",
          .outputs = "handle:variant",
          .attrs = "f:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_dataset, other_arguments, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
