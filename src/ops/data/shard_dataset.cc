#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Every num_shards-th element, from `index` on.
class ShardDataset final : public UnaryDataset {
 public:
  ShardDataset(DatasetPtr input, int64_t shards, int64_t index, bool require_non_empty)
      : UnaryDataset(std::move(input)), shards_(shards), index_(index), require_non_empty_(require_non_empty) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    return n < 0 ? n : n / shards_ + (index_ < n % shards_ ? 1 : 0);
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<ShardDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        for (;;) {
          if (!input_->next(c, out)) {
            if (dataset_.require_non_empty_ && at <= dataset_.index_) {
              throw invalid_argument(
                  "There aren't enough elements in this dataset for each shard to have at least one element (# elems = "
                  "{}, # shards = {}).",
                  at, dataset_.shards_);
            }
            return false;
          }
          if (at++ % dataset_.shards_ == dataset_.index_) return true;
          c.check();
        }
      }
      int64_t at = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t shards_, index_;
  bool require_non_empty_;
};

template <bool may_be_empty>
void cpu(KernelContext& c) {
  const auto shards = c.scalar<int64_t>(1), index = c.scalar<int64_t>(2);
  if (shards <= 0)
    throw invalid_argument("Number of shards must be greater than zero (currently num_shards = {}).", shards);
  if (index < 0 || index >= shards) {
    throw invalid_argument("Index must be between 0 and {} (currently index = {}).", shards - 1, index);
  }
  set_dataset(c, std::make_shared<const ShardDataset>(dataset_input(c, 0), shards, index,
                                                      !may_be_empty && c.node().attr<bool>("require_non_empty")));
}

}  // namespace

OpDef shard_dataset_op() {
  return {.name = "ShardDataset",
          .inputs = "input_dataset:variant; num_shards:int64; index:int64",
          .outputs = "handle:variant",
          .attrs = "require_non_empty:bool=False; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_dataset, num_shards, index, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu<false>>, .gives_outputs = true},
          .host_only = true};
}

// TensorFlow gives each worker files of its own where it finds them in the pipeline; here it is every n-th element.
OpDef auto_shard_dataset_op() {
  return {.name = "AutoShardDataset",
          .inputs = "input_dataset:variant; num_workers:int64; index:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, num_workers, index, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu<true>>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
