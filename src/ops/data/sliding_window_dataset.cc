#include <deque>

#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Batches of `size` elements, `stride` apart, each `shift` elements after the one before; what is left is dropped.
class SlidingWindowDataset final : public UnaryDataset {
 public:
  struct Layout {
    int64_t size, shift, stride;
  };
  SlidingWindowDataset(DatasetPtr input, const Layout& layout, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), layout_(layout) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<SlidingWindowDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        const Layout& w = dataset_.layout_;
        const auto span = static_cast<size_t>((w.size - 1) * w.stride + 1);
        while (skip > 0 || buffer.size() < span) {
          c.check();
          Element element;
          if (!input_->next(c, element)) return false;
          if (skip > 0) {
            --skip;
          } else {
            buffer.push_back(std::move(element));
          }
        }
        std::vector<Element> rows;
        for (size_t i = 0; i < span; i += static_cast<size_t>(w.stride)) rows.push_back(buffer[i]);
        out = maker.batch(rows);
        const size_t shift = std::min(static_cast<size_t>(w.shift), buffer.size());
        skip = w.shift - static_cast<int64_t>(shift);
        buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(shift));
        return true;
      }
      std::deque<Element> buffer;
      int64_t skip = 0;
      BatchMaker maker;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  Layout layout_;
};

void cpu(KernelContext& c) {
  const SlidingWindowDataset::Layout layout{c.scalar<int64_t>(1), c.scalar<int64_t>(2), c.scalar<int64_t>(3)};
  if (layout.size <= 0) throw invalid_argument("Window size must be greater than zero.");
  if (layout.shift <= 0) throw invalid_argument("Window shift must be greater than zero.");
  if (layout.stride <= 0) throw invalid_argument("window_stride must be greater than zero.");
  set_dataset(c, std::make_shared<const SlidingWindowDataset>(dataset_input(c, 0), layout, declared_spec(c)));
}

}  // namespace

OpDef sliding_window_dataset_op() {
  return {.name = "SlidingWindowDataset",
          .inputs = "input_dataset:variant; window_size:int64; window_shift:int64; window_stride:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, window_size, window_shift, window_stride, handle",
          .infer = infer_dataset<0, 1, 2, 3>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
