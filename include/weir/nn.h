#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Neural networks: tf.nn. Images are NHWC unless data_format says NCHW; padding is "SAME", "VALID" or, for
// convolutions, "EXPLICIT".
namespace weir::nn {

// Activations.
WEIR_API Output relu(const In& features, std::string_view name = {});
WEIR_API Output relu6(const In& features, std::string_view name = {});
WEIR_API Output elu(const In& features, std::string_view name = {});
WEIR_API Output selu(const In& features, std::string_view name = {});
WEIR_API Output softplus(const In& features, std::string_view name = {});
WEIR_API Output softsign(const In& features, std::string_view name = {});
WEIR_API Output leaky_relu(const In& features, float alpha = 0.2f, std::string_view name = {});
WEIR_API Output softmax(const In& logits, std::string_view name = {});      // along the last dimension
WEIR_API Output log_softmax(const In& logits, std::string_view name = {});  // along the last dimension

// The gradients of activations, as operations: dy first, then what the activation read or gave.
WEIR_API Output relu_grad(const In& gradients, const In& features, std::string_view name = {});
WEIR_API Output relu6_grad(const In& gradients, const In& features, std::string_view name = {});
WEIR_API Output elu_grad(const In& gradients, const In& outputs, std::string_view name = {});
WEIR_API Output selu_grad(const In& gradients, const In& outputs, std::string_view name = {});
WEIR_API Output softplus_grad(const In& gradients, const In& features, std::string_view name = {});
WEIR_API Output softsign_grad(const In& gradients, const In& features, std::string_view name = {});
WEIR_API Output leaky_relu_grad(const In& gradients, const In& features, float alpha = 0.2f,
                                std::string_view name = {});

// Adds a vector along the channels.
struct BiasAddOptions {
  std::string data_format = "NHWC";
};
WEIR_API Output bias_add(const In& value, const In& bias, const BiasAddOptions& options = {},
                         std::string_view name = {});
WEIR_API Output bias_add_grad(const In& out_backprop, const BiasAddOptions& options = {}, std::string_view name = {});

// Convolution of [batch, height, width, in] with a filter [height, width, in, out].
struct Conv2dOptions {
  std::vector<int64_t> strides = {1, 1, 1, 1};
  std::string padding = "SAME";
  std::vector<int64_t> explicit_paddings = {};  // before and after, for each dimension; with padding "EXPLICIT"
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
};
WEIR_API Output conv2d(const In& input, const In& filter, const Conv2dOptions& options = {},
                       std::string_view name = {});
WEIR_API Output conv2d_backprop_input(const In& input_sizes, const In& filter, const In& out_backprop,
                                      const Conv2dOptions& options = {}, std::string_view name = {});
WEIR_API Output conv2d_backprop_filter(const In& input, const In& filter_sizes, const In& out_backprop,
                                       const Conv2dOptions& options = {}, std::string_view name = {});

struct PoolOptions {
  std::vector<int64_t> ksize = {1, 2, 2, 1};
  std::vector<int64_t> strides = {1, 2, 2, 1};
  std::string padding = "SAME";
  std::string data_format = "NHWC";
};
WEIR_API Output max_pool(const In& input, const PoolOptions& options = {}, std::string_view name = {});
WEIR_API Output max_pool_grad(const In& input, const In& output, const In& grad, const PoolOptions& options = {},
                              std::string_view name = {});
WEIR_API Output max_pool_grad_grad(const In& input, const In& output, const In& grad, const PoolOptions& options = {},
                                   std::string_view name = {});
WEIR_API Output avg_pool(const In& value, const PoolOptions& options = {}, std::string_view name = {});
WEIR_API Output avg_pool_grad(const In& input_shape, const In& grad, const PoolOptions& options = {},
                              std::string_view name = {});

// Local response normalisation: x / (bias + alpha * sum of x^2 over channels within depth_radius)^beta.
struct LrnOptions {
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};
WEIR_API Output lrn(const In& input, const LrnOptions& options = {}, std::string_view name = {});
WEIR_API Output lrn_grad(const In& grads, const In& image, const In& output, const LrnOptions& options = {},
                         std::string_view name = {});

// Whether the target is among the k classes with the highest predictions; ties count, classes that are not finite
// never.
WEIR_API Output in_top_k(const In& predictions, const In& targets, const In& k, std::string_view name = {});
// The k largest entries along the last dimension and their indices, largest first, lower index first among equals.
struct TopK {
  Output values, indices;
};
WEIR_API TopK top_k(const In& input, const In& k = 1, bool sorted = true, std::string_view name = {});

// Half the sum of squares.
WEIR_API Output l2_loss(const In& t, std::string_view name = {});

// Keeps each element with probability keep_prob and scales it by 1 / keep_prob.
struct DropoutOptions {
  std::optional<In> noise_shape = {};  // dimensions of size 1 are kept or dropped together
  std::optional<int64_t> seed = {};
};
WEIR_API Output dropout(const In& x, const In& keep_prob, const DropoutOptions& options = {},
                        std::string_view name = {});

// One loss for each row. No gradient flows into the labels of the first; _v2 lets it.
WEIR_API Output softmax_cross_entropy_with_logits(const In& labels, const In& logits, std::string_view name = {});
WEIR_API Output softmax_cross_entropy_with_logits_v2(const In& labels, const In& logits, std::string_view name = {});
// Labels are class numbers, int32 or int64.
WEIR_API Output sparse_softmax_cross_entropy_with_logits(const In& labels, const In& logits,
                                                         std::string_view name = {});
WEIR_API Output sigmoid_cross_entropy_with_logits(const In& labels, const In& logits, std::string_view name = {});

// Mean and variance over the given axes.
struct Moments {
  Output mean, variance;
};
struct MomentsOptions {
  bool keep_dims = false;
};
WEIR_API Moments moments(const In& x, const std::vector<int64_t>& axes, const MomentsOptions& options = {},
                         std::string_view name = {});
WEIR_API Output batch_normalization(const In& x, const In& mean, const In& variance, const In& offset, const In& scale,
                                    float variance_epsilon, std::string_view name = {});

// Batch normalisation of images over all but the channels, in one operation.
struct FusedBatchNormOptions {
  std::optional<In> mean = {}, variance = {};  // when it is not for training
  float epsilon = 0.001f;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct FusedBatchNorm {
  Output y, batch_mean, batch_variance;  // the variance is unbiased, for running averages
};
WEIR_API FusedBatchNorm fused_batch_norm(const In& x, const In& scale, const In& offset,
                                         const FusedBatchNormOptions& options = {}, std::string_view name = {});

}  // namespace weir::nn
