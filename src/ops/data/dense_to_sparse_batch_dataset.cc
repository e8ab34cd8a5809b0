#include "base/errors.h"
#include "ops/data/dataset.h"
#include "tensor/elements.h"
#include "tensor/tensor_variant.h"

namespace weir::ops {
namespace {

// Elements of different sizes stacked as a sparse tensor, which is a variant of its three parts here.
class DenseToSparseBatchDataset final : public UnaryDataset {
 public:
  DenseToSparseBatchDataset(DatasetPtr input, int64_t size, std::vector<int64_t> row_shape, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), size_(size), row_shape_(std::move(row_shape)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<DenseToSparseBatchDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        std::vector<Tensor> rows;
        int64_t values = 0;
        Element element;
        while (static_cast<int64_t>(rows.size()) < dataset_.size_ && input_->next(c, element)) {
          values += element[0].elements();
          rows.push_back(std::move(element[0]));
        }
        if (rows.empty()) return false;
        out = {sparse_of(rows, values)};
        return true;
      }

      Tensor sparse_of(const std::vector<Tensor>& rows, int64_t count) const {
        const auto rank = static_cast<int64_t>(dataset_.row_shape_.size());
        std::vector<int64_t> sizes = dataset_.row_shape_;
        const DType dtype = rows[0].dtype();
        Tensor indices(DType::Int64, Shape{count, rank + 1}), values(dtype, Shape{count}),
            shape(DType::Int64, Shape{rank + 1});
        auto* index = indices.mutable_data<int64_t>();
        auto* value = static_cast<char*>(values.mutable_raw());
        for (size_t r = 0; r < rows.size(); ++r) {
          const Shape& row = rows[r].shape();
          if (row.rank() != rank) {
            throw invalid_argument("Input element had shape ({}) that is incompatible with the row_shape of rank {}",
                                   row.str(), rank);
          }
          for (int d = 0; d < row.rank(); ++d) {
            int64_t& size = sizes[static_cast<size_t>(d)];
            if (dataset_.row_shape_[static_cast<size_t>(d)] < 0) {
              size = std::max(size, row[d]);
            } else if (row[d] > size) {
              throw error(Code::DataLoss, "Input element had shape ({}) that is larger than the row_shape", row.str());
            }
          }
          for (int64_t i = 0; i < rows[r].elements(); ++i, index += rank + 1) {
            index[0] = static_cast<int64_t>(r);
            int64_t rest = i;
            for (int d = row.rank() - 1; d >= 0; --d) {
              index[1 + d] = rest % row[d];
              rest /= row[d];
            }
          }
          copy_elements(dtype, rows[r].raw(), value, rows[r].elements());
          value += static_cast<size_t>(rows[r].elements()) * dtype_size(dtype);
        }
        auto* dense = shape.mutable_data<int64_t>();
        *dense++ = static_cast<int64_t>(rows.size());
        for (int64_t size : sizes) *dense++ = std::max<int64_t>(size, 0);
        Tensor parts(DType::Variant, Shape{3});
        auto* part = static_cast<Variant*>(parts.mutable_raw());
        part[0] = std::make_shared<const TensorVariant>(std::move(indices));
        part[1] = std::make_shared<const TensorVariant>(std::move(values));
        part[2] = std::make_shared<const TensorVariant>(std::move(shape));
        return parts;
      }
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  int64_t size_;
  std::vector<int64_t> row_shape_;
};

void infer(InferContext& c) {
  c.require_scalar(1);
  c.require_rank(2, 1);
  infer_dataset<0>(c);
}

void cpu(KernelContext& c) {
  const auto size = c.scalar<int64_t>(1);
  if (size <= 0) throw invalid_argument("Batch size must be greater than zero.");
  DatasetPtr input = dataset_input(c, 0);
  if (input->spec().types.size() != 1) {
    throw invalid_argument("DenseToSparseDataset only supports inputs with a single component.");
  }
  const auto* sizes = c.input<int64_t>(2);
  std::vector<int64_t> row_shape(sizes, sizes + c.elements(2));
  for (int64_t dim : row_shape) {
    if (dim < -1) throw invalid_argument("Dimension {} must be >= -1", dim);
  }
  set_dataset(c, std::make_shared<const DenseToSparseBatchDataset>(std::move(input), size, std::move(row_shape),
                                                                   declared_spec(c)));
}

}  // namespace

OpDef dense_to_sparse_batch_dataset_op() {
  return {.name = "DenseToSparseBatchDataset",
          .inputs = "input_dataset:variant; batch_size:int64; row_shape:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, batch_size, row_shape, handle",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
