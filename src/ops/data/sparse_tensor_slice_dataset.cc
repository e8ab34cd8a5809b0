#include "base/errors.h"
#include "ops/data/dataset.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

// The rows of a sparse tensor as the three parts of sparse tensors of one dimension less.
class SparseTensorSliceDataset final : public Dataset {
 public:
  SparseTensorSliceDataset(Tensor indices, Tensor values, Tensor dense_shape)
      : Dataset(spec(values.dtype(), dense_shape.elements() - 1)),
        indices_(std::move(indices)),
        values_(std::move(values)),
        dense_shape_(std::move(dense_shape)) {}
  int64_t cardinality() const override { return dense_shape_.data<int64_t>()[0]; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<SparseTensorSliceDataset> {
      using IteratorOf::IteratorOf;
      bool next(const IterateContext&, Element& out) override {
        const auto sizes = dataset_.dense_shape_.data<int64_t>();
        if (row >= sizes[0]) return false;
        const auto indices = dataset_.indices_.data<int64_t>();
        const auto rank = static_cast<int64_t>(sizes.size());
        const int64_t all = dataset_.values_.elements();
        int64_t end = at;
        while (end < all && indices[static_cast<size_t>(end * rank)] == row) ++end;
        Tensor inner(DType::Int64, Shape{end - at, rank - 1}), shape(DType::Int64, Shape{rank - 1});
        auto* to = inner.mutable_data<int64_t>();
        for (int64_t i = at; i < end; ++i) {
          for (int64_t d = 1; d < rank; ++d) *to++ = indices[static_cast<size_t>(i * rank + d)];
        }
        std::copy(sizes.begin() + 1, sizes.end(), shape.mutable_data<int64_t>());
        Tensor values(dataset_.values_.dtype(), Shape{end - at});
        const auto* from = static_cast<const char*>(dataset_.values_.raw());
        copy_elements(values.dtype(), from + static_cast<size_t>(at) * dtype_size(values.dtype()), values.mutable_raw(),
                      end - at);
        out = {std::move(inner), std::move(values), std::move(shape)};
        at = end;
        ++row;
        return true;
      }
      int64_t row = 0, at = 0;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  static ElementSpec spec(DType dtype, int64_t rank) {
    return {{DType::Int64, dtype, DType::Int64}, {{kUnknown, rank}, {kUnknown}, {rank}}};
  }
  Tensor indices_, values_, dense_shape_;
};

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
  infer_dataset<>(c);
}

void cpu(KernelContext& c) {
  const int64_t rank = c.elements(2), count = c.elements(1);
  if (c.shape(0)[0] != count || c.shape(0)[1] != rank || rank < 1) {
    throw invalid_argument(
        "Number of indices must match number of values. indices shape: {}, values shape: {}, dense_shape shape: {}",
        c.shape(0).str(), c.shape(1).str(), c.shape(2).str());
  }
  const auto* indices = c.input<int64_t>(0);
  const auto* sizes = c.input<int64_t>(2);
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0 && indices[i * rank] < indices[(i - 1) * rank]) {
      throw error(Code::Unimplemented,
                  "The SparseTensor must be ordered in the batch dimension; handling arbitrarily "
                  "ordered input is not currently supported.");
    }
    for (int64_t d = 0; d < rank; ++d) {
      if (indices[i * rank + d] < 0 || indices[i * rank + d] >= sizes[d]) {
        throw invalid_argument("index {} of entry {} is outside of the dense shape", indices[i * rank + d], i);
      }
    }
  }
  set_dataset(
      c, std::make_shared<const SparseTensorSliceDataset>(c.input_tensor(0), c.input_tensor(1), c.input_tensor(2)));
}

}  // namespace

OpDef sparse_tensor_slice_dataset_op() {
  return {.name = "SparseTensorSliceDataset",
          .inputs = "indices:int64; values:Tvalues; dense_shape:int64",
          .outputs = "handle:variant",
          .attrs = "Tvalues:type",
          .flags = "stateful",
          .host = "indices, values, dense_shape, handle",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
