#include "ops/io/parse_common.h"

#include "base/errors.h"

namespace weir::ops {
namespace {

void require_equal(std::string_view what, size_t a, std::string_view other, size_t b) {
  if (a != b) throw invalid_argument("Expected len({}) == len({}) but got: {} vs. {}", what, other, a, b);
}

}  // namespace

std::vector<std::string> key_inputs(const KernelContext& c, int first, int64_t count, std::string_view what) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) {
    if (c.elements(first + i) != 1) {
      throw invalid_argument("Expected {}[{}] to be a scalar, got shape: {}", what, i, c.shape(first + i).str());
    }
    keys.push_back(c.scalar<std::string>(first + i));
  }
  return keys;
}

std::vector<io::SparseFeature> sparse_features(std::vector<std::string> keys, const std::vector<DType>& types) {
  require_equal("sparse_keys", keys.size(), "sparse_types", types.size());
  std::vector<io::SparseFeature> features;
  for (size_t i = 0; i < keys.size(); ++i) features.push_back({std::move(keys[i]), types[i]});
  return features;
}

std::vector<io::DenseFeature> dense_features(const KernelContext& c, std::vector<std::string> keys,
                                             const std::vector<DType>& types, const std::vector<Shape>& shapes,
                                             int first_default) {
  require_equal("dense_keys", keys.size(), "dense_types", types.size());
  require_equal("dense_keys", keys.size(), "dense_shapes", shapes.size());
  std::vector<io::DenseFeature> features;
  for (size_t i = 0; i < keys.size(); ++i) {
    features.push_back({std::move(keys[i]), types[i], shapes[i], c.input_view(first_default + static_cast<int>(i))});
  }
  return features;
}

std::span<const std::string> strings_of(const KernelContext& c, int input) {
  return {c.input<std::string>(input), static_cast<size_t>(c.elements(input))};
}

int set_sparse(KernelContext& c, int output, std::vector<io::SparseParts> parts) {
  for (io::SparseParts& part : parts) c.set_output(output++, std::move(part.indices));
  for (io::SparseParts& part : parts) c.set_output(output++, std::move(part.values));
  for (io::SparseParts& part : parts) c.set_output(output++, std::move(part.shape));
  return output;
}

int set_dense(KernelContext& c, int output, std::vector<Tensor> values) {
  for (Tensor& value : values) c.set_output(output++, std::move(value));
  return output;
}

namespace {

// The lists of types decide how many outputs there are; other lists may contradict them.
void require_outputs(const InferContext& c, int output, size_t count) {
  if (output > c.outputs() || count > static_cast<size_t>(c.outputs() - output)) {
    throw invalid_argument(
        "keys, types and shapes differ in number: there are {} outputs, and {} more are wanted from {} on", c.outputs(),
        count, output);
  }
}

}  // namespace

int infer_sparse(InferContext& c, int output, size_t count, int64_t rank) {
  require_outputs(c, output, count);
  require_outputs(c, output, 3 * count);
  for (size_t i = 0; i < count; ++i) c.set_output(output++, Shape{kUnknown, rank});
  for (size_t i = 0; i < count; ++i) c.set_output(output++, Shape{kUnknown});
  for (size_t i = 0; i < count; ++i) c.set_output(output++, Shape{rank});
  return output;
}

int infer_dense(InferContext& c, int output, const std::vector<Shape>& shapes, const Shape& outer) {
  require_outputs(c, output, shapes.size());
  for (const Shape& shape : shapes) {
    if (outer.has_rank() && shape.has_rank()) {
      Shape whole = outer;
      for (int64_t size : shape.dims()) whole.append(size);
      c.set_output(output, std::move(whole));
    }
    ++output;
  }
  return output;
}

}  // namespace weir::ops
