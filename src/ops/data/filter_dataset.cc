#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The elements for which the predicate holds; with `ends`, those before the first for which it does not.
class FilterDataset final : public UnaryDataset {
 public:
  FilterDataset(DatasetPtr input, CalledFunction predicate, bool ends)
      : UnaryDataset(std::move(input)), predicate_(std::move(predicate)), ends_(ends) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<FilterDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        while (!ended) {
          c.check();
          if (!input_->next(c, out)) break;
          dataset_.predicate_(c, out, result);
          if (truth_of(result)) return true;
          ended = dataset_.ends_;
        }
        return false;
      }
      Element result;
      bool ended = false;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  CalledFunction predicate_;
  bool ends_;
};

template <bool ends>
void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const FilterDataset>(
                     dataset_input(c, 0), function_input(c, "predicate", 1, types_of_list(c, "Targuments")), ends));
}

OpDef row(std::string_view name, ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "input_dataset:variant; other_arguments:Targuments",
          .outputs = "handle:variant",
          .attrs = "predicate:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_dataset, other_arguments, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = select, .gives_outputs = true},
          .host_only = true};
}

}  // namespace

OpDef filter_dataset_op() { return row("FilterDataset", kernel_any<cpu<false>>); }
OpDef take_while_dataset_op() { return row("TakeWhileDataset", kernel_any<cpu<true>>); }

}  // namespace weir::ops
