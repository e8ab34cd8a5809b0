#include <unordered_set>

#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Every element once, where it comes first.
class UniqueDataset final : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<UniqueDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        for (;;) {
          c.check();
          if (!input_->next(c, out)) return false;
          if (seen.insert(key(out[0])).second) return true;
        }
      }
      // The elements of the tensor as bytes; those of one data set have one type.
      static std::string key(const Tensor& tensor) {
        std::string key = tensor.shape().str();
        if (tensor.dtype() != DType::String) return key.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
        for (const std::string& text : tensor.data<std::string>()) key += std::to_string(text.size()) + ":" + text;
        return key;
      }
      std::unordered_set<std::string> seen;
    };
    return std::make_unique<Iterator>(*this, c, place);
  }
};

void cpu(KernelContext& c) {
  DatasetPtr input = dataset_input(c, 0);
  const std::vector<DType>& types = input->spec().types;
  if (types.size() != 1) throw invalid_argument("UniqueDataset only supports inputs with a single component.");
  if (types[0] != DType::Int32 && types[0] != DType::Int64 && types[0] != DType::String) {
    throw invalid_argument(
        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.");
  }
  set_dataset(c, std::make_shared<const UniqueDataset>(std::move(input)));
}

}  // namespace

OpDef unique_dataset_op() {
  return {.name = "UniqueDataset",
          .inputs = "input_dataset:variant",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
