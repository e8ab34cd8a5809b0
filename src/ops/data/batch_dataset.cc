#include "ops/data/batch_dataset.h"

#include "base/errors.h"

namespace weir::ops {
namespace {

class BatchDataset final : public UnaryDataset {
 public:
  BatchDataset(DatasetPtr input, int64_t size, bool drop_remainder, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), size_(size), drop_remainder_(drop_remainder) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    return n < 0 ? n : n / size_ + (n % size_ == 0 || drop_remainder_ ? 0 : 1);
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<BatchDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        const auto size = static_cast<size_t>(dataset_.size_);
        while (elements.size() < size && !ended) {
          Element element;
          try {
            ended = !input_->next(c, element);
          } catch (const Error& e) {
            // Who was cancelled may come again: the elements are kept. Any other error costs the batch.
            if (e.code() != Code::Cancelled) elements.clear();
            throw;
          }
          if (!ended) elements.push_back(std::move(element));
        }
        if (elements.empty() || (elements.size() < size && dataset_.drop_remainder_)) {
          elements.clear();
          return false;
        }
        struct Clear {
          std::vector<Element>& elements;
          ~Clear() { elements.clear(); }
        } clear_at_end{elements};
        out = maker.batch(elements);
        return true;
      }
      int64_t skip(const IterateContext& c, int64_t count) override {
        if (!elements.empty() || ended || count > INT64_MAX / dataset_.size_) return ElementIterator::skip(c, count);
        const int64_t rows = input_->skip(c, count * dataset_.size_);
        return rows / dataset_.size_ + (rows % dataset_.size_ != 0 && !dataset_.drop_remainder_ ? 1 : 0);
      }
      std::vector<Element> elements;  // of the next batch, so far
      bool ended = false;
      BatchMaker maker;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t size_;
  bool drop_remainder_;
};

void cpu(KernelContext& c) {
  const auto size = c.scalar<int64_t>(1);
  if (size <= 0) throw invalid_argument("Batch size must be greater than zero.");
  set_dataset(c, batched(dataset_input(c, 0), size, c.inputs() > 2 && c.scalar<bool>(2), declared_spec(c)));
}

}  // namespace

DatasetPtr batched(DatasetPtr input, int64_t size, bool drop_remainder, ElementSpec spec) {
  return std::make_shared<const BatchDataset>(std::move(input), size, drop_remainder, std::move(spec));
}

OpDef batch_dataset_op() {
  return {.name = "BatchDataset",
          .inputs = "input_dataset:variant; batch_size:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, batch_size, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}
OpDef batch_dataset_v2_op() {
  return {.name = "BatchDatasetV2",
          .inputs = "input_dataset:variant; batch_size:int64; drop_remainder:bool",
          .outputs = "handle:variant",
          .attrs = "parallel_copy:bool=False; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_dataset, batch_size, drop_remainder, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
