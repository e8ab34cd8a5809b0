#include <map>

#include "base/errors.h"
#include "io/parse_example.h"
#include "ops/data/dataset.h"
#include "ops/data/parallel_map_dataset.h"
#include "ops/io/parse_common.h"
#include "tensor/tensor_variant.h"

namespace weir::ops {
namespace {

// Batches of serialised examples as their features, in the order of the features' keys. A sparse one is three variants,
// as SerializeSparse makes them. What is asked for at once is parsed by one thread.
class ParseExampleDataset final : public UnaryDataset {
 public:
  ParseExampleDataset(DatasetPtr input, std::vector<io::SparseFeature> sparse, std::vector<io::DenseFeature> dense,
                      ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), parser_(sparse, dense) {
    std::map<std::string, size_t> order;
    for (size_t i = 0; i < sparse.size(); ++i) order.emplace(sparse[i].key, i);
    for (size_t i = 0; i < dense.size(); ++i) order.emplace(dense[i].key, sparse.size() + i);
    for (const auto& [key, feature] : order) order_.push_back(feature);
    if (order_.size() != sparse.size() + dense.size()) throw invalid_argument("two features have the same key");
    if (order_.size() != this->spec().types.size()) {
      throw invalid_argument("{} features are asked for and {} `output_types` are given", order_.size(),
                             this->spec().types.size());
    }
  }
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<ParseExampleDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        Element batch;
        if (!input_->next(c, batch)) return false;
        out = dataset_.parse(batch);
        return true;
      }
      int64_t skip(const IterateContext& c, int64_t count) override { return input_->skip(c, count); }
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  Element parse(const Element& batch) const {
    if (batch.size() != 1 || batch[0].dtype() != DType::String || batch[0].shape().rank() != 1) {
      throw invalid_argument("Input dataset should have a single vector of strings as its element");
    }
    ThreadPool pool(1);
    io::ParsedExamples parsed =
        parser_.parse(batch[0].data<std::string>(), {io::ParseMessages::Of::Examples, {}}, pool);
    Element all;
    for (io::SparseParts& parts : parsed.sparse) {
      Tensor three(DType::Variant, {3});
      auto* element = static_cast<Variant*>(three.mutable_raw());
      for (Tensor* part : {&parts.indices, &parts.values, &parts.shape}) {
        *element++ = std::make_shared<const TensorVariant>(std::move(*part));
      }
      all.push_back(std::move(three));
    }
    for (Tensor& dense : parsed.dense) all.push_back(std::move(dense));
    Element ordered;
    for (size_t feature : order_) ordered.push_back(std::move(all[feature]));
    return ordered;
  }

  io::ExampleParser parser_;
  std::vector<size_t> order_;  // sparse features, then dense ones, by their keys
};

void cpu(KernelContext& c) {
  parallel_calls(c.scalar<int64_t>(1));  // throws when it makes no sense
  const auto& node = c.node();
  auto sparse = sparse_features(node.attr<std::vector<std::string>>("sparse_keys"),
                                node.attr<std::vector<DType>>("sparse_types"));
  auto dense =
      dense_features(c, node.attr<std::vector<std::string>>("dense_keys"), node.attr<std::vector<DType>>("Tdense"),
                     node.attr<std::vector<Shape>>("dense_shapes"), 2);
  set_dataset(c, std::make_shared<const ParseExampleDataset>(dataset_input(c, 0), std::move(sparse), std::move(dense),
                                                             declared_spec(c)));
}

}  // namespace

OpDef parse_example_dataset_op() {
  return {.name = "ParseExampleDataset",
          .inputs = "input_dataset:variant; num_parallel_calls:int64; dense_defaults:Tdense",
          .outputs = "handle:variant",
          .attrs =
              "sparse_keys:list(string)>=0; dense_keys:list(string)>=0; "
              "sparse_types:list(type){float,int64,string}>=0; Tdense:list(type){float,int64,string}>=0; "
              "dense_shapes:list(shape)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1; "
              "sloppy:bool=False",
          .host = "input_dataset, num_parallel_calls, dense_defaults, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
