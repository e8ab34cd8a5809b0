#include "base/errors.h"
#include "ops/data/iterator.h"

// Data sets that give the same elements in several ways, of which TensorFlow finds the fastest by trying. Here it is
// the first: the elements are the same.
namespace weir::ops {
namespace {

void choose(KernelContext& c) {
  const DatasetPtr first = dataset_input(c, 0);
  for (int i = 1; i < c.inputs(); ++i) {
    const DatasetPtr other = dataset_input(c, i);
    require_compatible(first->spec(), other->spec());
    if (other->cardinality() != first->cardinality()) {
      throw invalid_argument(
          "All inputs to ChooseFastestDataset must be of the same cardinality. Got: {} for dataset 0 and {} for "
          "dataset {}.",
          first->cardinality(), other->cardinality(), i);
    }
  }
  set_dataset(c, first);
}

// What the first function makes of a data set.
class BranchDataset final : public UnaryDataset {
 public:
  BranchDataset(DatasetPtr input, CalledFunction branch, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), branch_(std::move(branch)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    Element made;
    branch_(c, {variant_tensor(input())}, made);
    return dataset_of(made, "ChooseFastestBranchDataset")->iterate(c, place + "/");
  }

 private:
  CalledFunction branch_;
};

void choose_branch(KernelContext& c) {
  if (c.scalar<int64_t>(1) <= 0 || c.scalar<int64_t>(2) <= 0) {
    throw invalid_argument("`ratio_numerator` and `ratio_denominator` must be greater than zero.");
  }
  const auto& branches = c.node().attr<std::vector<FunctionName>>("branches");
  const auto& lengths = c.node().attr<std::vector<int64_t>>("other_arguments_lengths");
  const int64_t captured = types_of_list(c, "Targuments");
  bool fits = lengths.size() == branches.size();
  int64_t sum = 0;
  for (int64_t length : lengths) {
    fits = fits && length >= 0 && length <= captured - sum;
    sum += fits ? length : 0;
  }
  if (!fits || sum != captured) {
    throw invalid_argument("`other_arguments_lengths` must say how many of the {} other arguments each branch gets",
                           captured);
  }
  CalledFunction branch{branches[0].name, {}};
  for (int i = 3; i < 3 + static_cast<int>(lengths[0]); ++i) {
    branch.captured.push_back(c.dtype(i) == DType::Resource ? resource_tensor(c.resource<Resource>(i))
                                                            : c.input_tensor(i));
  }
  set_dataset(c, std::make_shared<const BranchDataset>(dataset_input(c, 0), std::move(branch), declared_spec(c)));
}

}  // namespace

OpDef choose_fastest_dataset_op() {
  return {.name = "ChooseFastestDataset",
          .inputs = "input_datasets:N*variant",
          .outputs = "handle:variant",
          .attrs = "N:int>=2; num_experiments:int; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_datasets, handle",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<choose>, .gives_outputs = true},
          .host_only = true};
}
OpDef choose_fastest_branch_dataset_op() {
  return {.name = "ChooseFastestBranchDataset",
          .inputs = "input_dataset:variant; ratio_numerator:int64; ratio_denominator:int64; other_arguments:Targuments",
          .outputs = "handle:variant",
          .attrs =
              "Targuments:list(type)>=0; num_elements_per_branch:int>=1; branches:list(func)>=1; "
              "other_arguments_lengths:list(int)>=1; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_dataset, ratio_numerator, ratio_denominator, other_arguments, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<choose_branch>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
