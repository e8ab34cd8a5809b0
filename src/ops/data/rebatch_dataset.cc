#include <algorithm>

#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Batches cut into as many smaller ones as there are replicas. The first says how large they are; the last batch of all
// may hold fewer rows, and gives fewer pieces.
class RebatchDataset final : public UnaryDataset {
 public:
  RebatchDataset(DatasetPtr input, int64_t replicas, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), replicas_(replicas) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<RebatchDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        while (at >= rows) {
          batch.clear();
          if (!input_->next(c, batch)) return false;
          rows = common_rows(batch);
          at = 0;
          if (piece == 0) piece = piece_of(rows);
          c.check();
        }
        const int64_t end = std::min(at + piece, rows);
        out.clear();
        for (const Tensor& component : batch) out.push_back(shared_rows(component, at, end));
        at = end;
        return true;
      }
      int64_t piece_of(int64_t size) const {
        if (size % dataset_.replicas_ == 0 && size > 0) return size / dataset_.replicas_;
        throw invalid_argument("Batch size: {} is not divisible by num_replicas: {}", size, dataset_.replicas_);
      }
      Element batch;
      int64_t rows = 0, at = 0, piece = 0;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t replicas_;
};

void cpu(KernelContext& c) {
  const auto replicas = c.scalar<int64_t>(1);
  if (replicas <= 0) throw invalid_argument("num_replicas must be greater than zero.");
  set_dataset(c, std::make_shared<const RebatchDataset>(dataset_input(c, 0), replicas, declared_spec(c)));
}

}  // namespace

OpDef rebatch_dataset_op() {
  return {.name = "RebatchDataset",
          .inputs = "input_dataset:variant; num_replicas:int64",
          .outputs = "handle:variant",
          .attrs = "output_types:list(type)>=1; output_shapes:list(shape)>=1; use_fallback:bool=True",
          .host = "input_dataset, num_replicas, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
