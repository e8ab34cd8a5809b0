#include <cstring>

#include "base/errors.h"
#include "ops/data/dataset.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

// Fills `to`, a tensor, with one value.
void fill_with(Tensor& to, const Tensor& value) {
  if (!is_plain(to.dtype())) {
    for (int64_t i = 0; i < to.elements(); ++i) {
      copy_elements(to.dtype(), value.raw(),
                    static_cast<char*>(to.mutable_raw()) + static_cast<size_t>(i) * dtype_size(to.dtype()), 1);
    }
    return;
  }
  const size_t size = dtype_size(to.dtype()), bytes = to.bytes();
  auto* out = static_cast<char*>(to.mutable_raw());
  if (bytes == 0) return;
  std::memcpy(out, value.raw(), size);
  for (size_t done = size; done < bytes; done += std::min(done, bytes - done)) {
    std::memcpy(out + done, out, std::min(done, bytes - done));
  }
}

// Copies `from` into the corner of one row of a larger tensor, axis by axis; `to` points to that row.
void copy_corner(const Tensor& from, std::span<const int64_t> padded, char* to) {
  const size_t size = dtype_size(from.dtype());
  const int rank = from.shape().rank();
  if (from.elements() == 0) return;
  if (rank == 0) {
    copy_elements(from.dtype(), from.raw(), to, 1);
    return;
  }
  const int64_t run = from.shape()[rank - 1], runs = from.elements() / run;
  const auto* source = static_cast<const char*>(from.raw());
  std::vector<int64_t> at(static_cast<size_t>(rank), 0);
  for (int64_t r = 0; r < runs; ++r) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset = offset * padded[static_cast<size_t>(d)] + at[static_cast<size_t>(d)];
    copy_elements(from.dtype(), source + static_cast<size_t>(r * run) * size, to + static_cast<size_t>(offset) * size,
                  run);
    for (int d = rank - 2; d >= 0; --d) {
      if (++at[static_cast<size_t>(d)] < from.shape()[d]) break;
      at[static_cast<size_t>(d)] = 0;
    }
  }
}

class PaddedBatchDataset final : public UnaryDataset {
 public:
  PaddedBatchDataset(DatasetPtr input, int64_t size, bool drop_remainder, std::vector<std::vector<int64_t>> shapes,
                     Element values, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)),
        size_(size),
        drop_remainder_(drop_remainder),
        padded_shapes_(std::move(shapes)),
        padding_values_(std::move(values)) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    return n < 0 ? n : n / size_ + (n % size_ == 0 || drop_remainder_ ? 0 : 1);
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<PaddedBatchDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        std::vector<Element> elements;
        const auto size = static_cast<size_t>(dataset_.size_);
        while (elements.size() < size && !ended) {
          Element element;
          ended = !input_->next(c, element);
          if (!ended) elements.push_back(std::move(element));
        }
        if (elements.empty() || (elements.size() < size && dataset_.drop_remainder_)) return false;
        out.clear();
        for (size_t i = 0; i < elements[0].size(); ++i) out.push_back(component(elements, i));
        return true;
      }

      Tensor component(const std::vector<Element>& elements, size_t i) {
        std::vector<int64_t> padded = dataset_.padded_shapes_[i];
        const Tensor& first = elements[0][i];
        for (const Element& element : elements) {
          const Shape& shape = element[i].shape();
          if (shape.rank() != static_cast<int>(padded.size())) {
            throw invalid_argument(
                "All elements in a batch must have the same rank as the padded shape for component{}: expected rank {} "
                "but got element with rank {}",
                i, padded.size(), shape.rank());
          }
          for (int d = 0; d < shape.rank(); ++d) {
            const int64_t wanted = dataset_.padded_shapes_[i][static_cast<size_t>(d)];
            int64_t& so_far = padded[static_cast<size_t>(d)];
            if (wanted < 0) {
              so_far = std::max(so_far, shape[d]);
            } else if (shape[d] > wanted) {
              throw error(Code::DataLoss,
                          "Attempted to pad to a smaller size than the input element. Dimension {} of component {} has "
                          "size {}, {} is wanted.",
                          d, i, shape[d], wanted);
            }
          }
        }
        Shape shape{static_cast<int64_t>(elements.size())};
        for (int64_t& dim : padded) shape.append(dim = std::max<int64_t>(dim, 0));
        Tensor batch = maker.take(i, first.dtype(), shape);
        fill_with(batch, dataset_.padding_values_[i]);
        const size_t row_bytes = batch.bytes() / elements.size();
        auto* to = static_cast<char*>(batch.mutable_raw());
        for (const Element& element : elements) {
          copy_corner(element[i], padded, to);
          to += row_bytes;
        }
        return batch;
      }

      bool ended = false;
      BatchMaker maker;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t size_;
  bool drop_remainder_;
  std::vector<std::vector<int64_t>> padded_shapes_;
  Element padding_values_;
};

void infer(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
  infer_dataset<>(c);
}

void cpu(KernelContext& c) {
  const auto size = c.scalar<int64_t>(1);
  if (size <= 0) throw invalid_argument("Batch size must be greater than zero.");
  DatasetPtr input = dataset_input(c, 0);
  const int n = static_cast<int>(c.node().attr<int64_t>("N"));
  if (static_cast<size_t>(n) != input->spec().types.size()) {
    throw invalid_argument(
        "Number of padded shapes ({}) must match the number of components in the input dataset's "
        "elements ({})",
        n, input->spec().types.size());
  }
  std::vector<std::vector<int64_t>> shapes;
  Element values;
  for (int i = 0; i < n; ++i) {
    if (c.shape(2 + i).rank() != 1) throw invalid_argument("All `padded_shapes` must be vectors");
    const auto* sizes = c.input<int64_t>(2 + i);
    shapes.emplace_back(sizes, sizes + c.elements(2 + i));
    for (int64_t dim : shapes.back()) {
      if (dim < -1) throw invalid_argument("a padded shape has the size {}", dim);
    }
    Tensor value = c.input_tensor(2 + n + i);
    if (value.elements() != 1) throw invalid_argument("All `padding_values` must be scalars");
    if (value.dtype() != input->spec().types[static_cast<size_t>(i)]) {
      throw invalid_argument("Mismatched type between padding value {} and input dataset's component {}: {} vs. {}", i,
                             i, dtype_name(value.dtype()), dtype_name(input->spec().types[static_cast<size_t>(i)]));
    }
    values.push_back(std::move(value));
  }
  const bool drop = c.inputs() > 2 + 2 * n && c.scalar<bool>(2 + 2 * n);
  set_dataset(c, std::make_shared<const PaddedBatchDataset>(std::move(input), size, drop, std::move(shapes),
                                                            std::move(values), declared_spec(c)));
}

}  // namespace

OpDef padded_batch_dataset_op() {
  return {.name = "PaddedBatchDataset",
          .inputs = "input_dataset:variant; batch_size:int64; padded_shapes:N*int64; padding_values:Toutput_types",
          .outputs = "handle:variant",
          .attrs = "Toutput_types:list(type)>=1; output_shapes:list(shape)>=1; N:int>=1",
          .host = "input_dataset, batch_size, padded_shapes, padding_values, handle",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}
OpDef padded_batch_dataset_v2_op() {
  return {.name = "PaddedBatchDatasetV2",
          .inputs =
              "input_dataset:variant; batch_size:int64; padded_shapes:N*int64; padding_values:Toutput_types; "
              "drop_remainder:bool",
          .outputs = "handle:variant",
          .attrs = "parallel_copy:bool=False; Toutput_types:list(type)>=1; output_shapes:list(shape)>=1; N:int>=1",
          .host = "input_dataset, batch_size, padded_shapes, padding_values, drop_remainder, handle",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
