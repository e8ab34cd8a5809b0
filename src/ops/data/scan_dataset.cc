#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// What f makes of a state and each element: the next state, and an element.
class ScanDataset final : public UnaryDataset {
 public:
  ScanDataset(DatasetPtr input, Element state, CalledFunction f, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), state_(std::move(state)), f_(std::move(f)) {}
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<ScanDataset> {
      Iterator(const ScanDataset& d, const IterateContext& c, const std::string& p)
          : UnaryIterator(d, c, p), state(d.state_) {}
      bool next(const IterateContext& c, Element& out) override {
        Element element;
        if (!input_->next(c, element)) return false;
        Element arguments = state, results;
        arguments.insert(arguments.end(), element.begin(), element.end());
        dataset_.f_(c, arguments, results);
        const size_t count = state.size();
        if (results.size() != count + dataset_.spec().types.size()) {
          throw invalid_argument("The function gives {} tensors; {} are wanted for the state and {} for the element",
                                 results.size(), count, dataset_.spec().types.size());
        }
        const auto middle = results.begin() + static_cast<std::ptrdiff_t>(count);
        out.assign(middle, results.end());
        state.assign(results.begin(), middle);
        return true;
      }
      Element state;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  Element state_;
  CalledFunction f_;
};

void cpu(KernelContext& c) {
  const int states = types_of_list(c, "Tstate");
  Element state;
  for (int i = 0; i < states; ++i) state.push_back(c.input_tensor(1 + i));
  set_dataset(c, std::make_shared<const ScanDataset>(dataset_input(c, 0), std::move(state),
                                                     function_input(c, "f", 1 + states, types_of_list(c, "Targuments")),
                                                     declared_spec(c)));
}

}  // namespace

OpDef scan_dataset_op() {
  return {.name = "ScanDataset",
          .inputs = "input_dataset:variant; initial_state:Tstate; other_arguments:Targuments",
          .outputs = "handle:variant",
          .attrs =
              "f:func; Tstate:list(type)>=1; Targuments:list(type)>=0; output_types:list(type)>=1; "
              "output_shapes:list(shape)>=1; preserve_cardinality:bool=False",
          .host = "input_dataset, initial_state, other_arguments, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
