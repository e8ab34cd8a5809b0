#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/infer_context.h"
#include "io/parse_example.h"
#include "ops/kernel.h"

// What the operations that parse examples share: how lists of arguments become the parsers' descriptions of features.
namespace weir::ops {

// Scalars of an argument that is a list of keys: inputs first .. first + count - 1. Throws InvalidArgument for others.
std::vector<std::string> key_inputs(const KernelContext& c, int first, int64_t count, std::string_view what);

// Both throw InvalidArgument when the lists differ in length, which graphs of other programs may have. `first_default`:
// the input that is the first feature's default.
std::vector<io::SparseFeature> sparse_features(std::vector<std::string> keys, const std::vector<DType>& types);
std::vector<io::DenseFeature> dense_features(const KernelContext& c, std::vector<std::string> keys,
                                             const std::vector<DType>& types, const std::vector<Shape>& shapes,
                                             int first_default);

std::span<const std::string> strings_of(const KernelContext& c, int input);

// Sets outputs from `output` on: all indices, then all values, then all shapes. Returns the output behind them.
int set_sparse(KernelContext& c, int output, std::vector<io::SparseParts> parts);
int set_dense(KernelContext& c, int output, std::vector<Tensor> values);

// The same for their shapes; `rank` of the sparse tensors, `outer` what stands before the shapes of dense ones.
int infer_sparse(InferContext& c, int output, size_t count, int64_t rank);
int infer_dense(InferContext& c, int output, const std::vector<Shape>& shapes, const Shape& outer);

}  // namespace weir::ops
