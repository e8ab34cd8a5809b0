#include <deque>

#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Elements that are kept, one component each: what a window holds.
class KeptDataset final : public Dataset {
 public:
  KeptDataset(Element rows, ElementSpec spec) : Dataset(std::move(spec)), rows_(std::move(rows)) {}
  int64_t cardinality() const override { return static_cast<int64_t>(rows_.size()); }
  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<KeptDataset> {
      using IteratorOf::IteratorOf;
      bool next(const IterateContext&, Element& out) override {
        if (at >= dataset_.rows_.size()) return false;
        out = {dataset_.rows_[at++]};
        return true;
      }
      size_t at = 0;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  Element rows_;
};

// Every element is a data set for each component: `size` elements, `stride` apart, each window `shift` elements after
// the one before.
class WindowDataset final : public UnaryDataset {
 public:
  struct Layout {
    int64_t size, shift, stride;
    bool drop_remainder;
  };
  WindowDataset(DatasetPtr input, const Layout& layout, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), layout_(layout) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (n < 0) return n;
    if (!layout_.drop_remainder) return (n + layout_.shift - 1) / layout_.shift;
    const int64_t span = (layout_.size - 1) * layout_.stride + 1;
    return n < span ? 0 : (n - span) / layout_.shift + 1;
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<WindowDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        const Layout& w = dataset_.layout_;
        const auto span = static_cast<size_t>((w.size - 1) * w.stride + 1);
        while (!ended && (skip > 0 || buffer.size() < span)) {
          c.check();
          Element element;
          if (!input_->next(c, element)) {
            ended = true;
          } else if (skip > 0) {
            --skip;
          } else {
            buffer.push_back(std::move(element));
          }
        }
        if (buffer.empty() || (buffer.size() < span && w.drop_remainder)) return false;
        out.clear();
        const ElementSpec& inner = dataset_.input()->spec();
        for (size_t component = 0; component < inner.types.size(); ++component) {
          Element rows;
          for (size_t i = 0; i < std::min(buffer.size(), span); i += static_cast<size_t>(w.stride)) {
            rows.push_back(buffer[i][component]);
          }
          out.push_back(variant_tensor(std::make_shared<const KeptDataset>(
              std::move(rows), ElementSpec{{inner.types[component]}, {inner.shapes[component]}})));
        }
        const size_t shift = std::min(static_cast<size_t>(w.shift), buffer.size());
        if (!ended) skip = w.shift - static_cast<int64_t>(shift);
        buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(shift));
        return true;
      }
      std::deque<Element> buffer;
      int64_t skip = 0;  // elements between two windows
      bool ended = false;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  Layout layout_;
};

void cpu(KernelContext& c) {
  const WindowDataset::Layout layout{c.scalar<int64_t>(1), c.scalar<int64_t>(2), c.scalar<int64_t>(3),
                                     c.scalar<bool>(4)};
  if (layout.size <= 0) throw invalid_argument("Window size must be greater than zero.");
  if (layout.shift <= 0) throw invalid_argument("Window shift must be greater than zero.");
  if (layout.stride <= 0) throw invalid_argument("Window stride must be greater than zero.");
  set_dataset(c, std::make_shared<const WindowDataset>(dataset_input(c, 0), layout, declared_spec(c)));
}

}  // namespace

OpDef window_dataset_op() {
  return {.name = "WindowDataset",
          .inputs = "input_dataset:variant; size:int64; shift:int64; stride:int64; drop_remainder:bool",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, size, shift, stride, drop_remainder, handle",
          .infer = infer_dataset<0, 1, 2, 3, 4>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
