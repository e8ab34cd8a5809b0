#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/layers.h"

// tf.layers: layers as objects, and as functions that make one and call it. A function with a name makes the layer's
// variables in the scope of that name, where a second layer of the name shares them only when asked to (reuse).
namespace weir::layers {

// What follows a layer's sum: nn::relu, or any function of an Output.
class WEIR_API Activation {
 public:
  Activation() = default;                                                          // none
  Activation(Output (*function)(const In&, std::string_view));                     // NOLINT
  Activation(std::function<Output(const Output&)> f) : function_(std::move(f)) {}  // NOLINT
  explicit operator bool() const { return static_cast<bool>(function_); }
  Output operator()(const Output& features) const { return function_ ? function_(features) : features; }

 private:
  std::function<Output(const Output&)> function_;
};

// One size for all spatial dimensions, or one for each.
class WEIR_API Sizes {
 public:
  Sizes(int64_t size) : sizes_{size} {}                            // NOLINT
  Sizes(int size) : sizes_{size} {}                                // NOLINT
  Sizes(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}   // NOLINT
  Sizes(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}  // NOLINT
  std::vector<int64_t> of(size_t dims, const char* what) const;    // throws InvalidArgument for another number

 private:
  std::vector<int64_t> sizes_;
};

struct DenseOptions {
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = {}, bias_initializer = zeros_initializer();
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  bool trainable = true;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// activation(inputs * kernel + bias) along the last dimension.
class WEIR_API Dense : public Layer {
 public:
  explicit Dense(int64_t units, const DenseOptions& options = {}, std::string scope = {});

 private:
  void build(const Shape& input_shape) override;
  Output call(const Output& inputs) override;
  int64_t units_;
  DenseOptions options_;
  Variable kernel_, bias_;
};
WEIR_API Output dense(const Output& inputs, int64_t units, const DenseOptions& options = {},
                      In::Where where = In::Where::current());

struct ConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";              // or "same"
  std::string data_format = "channels_last";  // or "channels_first"
  Sizes dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = {}, bias_initializer = zeros_initializer();
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  bool trainable = true;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// A convolution over `rank` dimensions.
class WEIR_API Conv : public Layer {
 public:
  Conv(int rank, int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {}, std::string scope = {});

 private:
  void build(const Shape& input_shape) override;
  Output call(const Output& inputs) override;
  int rank_;
  int64_t filters_;
  std::vector<int64_t> kernel_size_;
  ConvOptions options_;
  Variable kernel_, bias_;
  Output rate_;
};
// The transpose of one, over two or three dimensions: enlarges by the strides.
class WEIR_API ConvTranspose : public Layer {
 public:
  ConvTranspose(int rank, int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {},
                std::string scope = {});

 private:
  void build(const Shape& input_shape) override;
  Output call(const Output& inputs) override;
  int rank_;
  int64_t filters_;
  std::vector<int64_t> kernel_size_;
  ConvOptions options_;
  Variable kernel_, bias_;
};
WEIR_API Output conv1d(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {},
                       In::Where where = In::Where::current());
WEIR_API Output conv2d(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {},
                       In::Where where = In::Where::current());
WEIR_API Output conv3d(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options = {},
                       In::Where where = In::Where::current());
WEIR_API Output conv2d_transpose(const Output& inputs, int64_t filters, const Sizes& kernel_size,
                                 const ConvOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output conv3d_transpose(const Output& inputs, int64_t filters, const Sizes& kernel_size,
                                 const ConvOptions& options = {}, In::Where where = In::Where::current());

struct SeparableConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  int64_t depth_multiplier = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = {}, pointwise_initializer = {}, bias_initializer = zeros_initializer();
  Regularizer depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {};
  bool trainable = true;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// A convolution of each channel by itself, then one across the channels; over one or two dimensions.
class WEIR_API SeparableConv : public Layer {
 public:
  SeparableConv(int rank, int64_t filters, const Sizes& kernel_size, const SeparableConvOptions& options = {},
                std::string scope = {});

 private:
  void build(const Shape& input_shape) override;
  Output call(const Output& inputs) override;
  int rank_;
  int64_t filters_;
  std::vector<int64_t> kernel_size_;
  SeparableConvOptions options_;
  Variable depthwise_, pointwise_, bias_;
};
WEIR_API Output separable_conv1d(const Output& inputs, int64_t filters, const Sizes& kernel_size,
                                 const SeparableConvOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output separable_conv2d(const Output& inputs, int64_t filters, const Sizes& kernel_size,
                                 const SeparableConvOptions& options = {}, In::Where where = In::Where::current());

struct PoolingOptions {
  std::string padding = "valid";
  std::string data_format = "channels_last";
  std::string name = {};
};
WEIR_API Output max_pooling1d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                              const PoolingOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output max_pooling2d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                              const PoolingOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output max_pooling3d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                              const PoolingOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output average_pooling1d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                                  const PoolingOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output average_pooling2d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                                  const PoolingOptions& options = {}, In::Where where = In::Where::current());
WEIR_API Output average_pooling3d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                                  const PoolingOptions& options = {}, In::Where where = In::Where::current());

struct DropoutOptions {
  float rate = 0.5f;  // the share of elements that are dropped
  std::optional<In> noise_shape = {};
  std::optional<int64_t> seed = {};
  In training = false;  // a bool, or a scalar tensor of bool; otherwise the inputs go through
  std::string name = {};
};
WEIR_API Output dropout(const Output& inputs, const DropoutOptions& options = {},
                        In::Where where = In::Where::current());
// [batch, everything else].
WEIR_API Output flatten(const Output& inputs, std::string_view name = {}, In::Where where = In::Where::current());

// Limits of the correction of batch renormalization; what is not set has none.
struct RenormClipping {
  std::optional<In> rmin = {}, rmax = {}, dmax = {};
};
struct BatchNormalizationOptions {
  std::vector<int64_t> axis = {-1};  // those that are not normalised over
  double momentum = 0.99;            // of the moving averages
  double epsilon = 1e-3;
  bool center = true, scale = true;
  Initializer beta_initializer = zeros_initializer(), gamma_initializer = ones_initializer();
  Initializer moving_mean_initializer = zeros_initializer(), moving_variance_initializer = ones_initializer();
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  In training = false;  // a bool, or a scalar tensor of bool: by the batch, or by the moving averages
  bool renorm = false;
  RenormClipping renorm_clipping = {};
  double renorm_momentum = 0.99;
  std::optional<bool> fused = {};  // one operation does it: by default where it can
  int64_t virtual_batch_size = 0;  // normalise by so many at once; 0: by the whole batch
  bool trainable = true;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// Normalises to mean 0 and variance 1, then scales and shifts. The updates of the moving averages are in the collection
// "update_ops"; a training step must run them.
class WEIR_API BatchNormalization : public Layer {
 public:
  explicit BatchNormalization(const BatchNormalizationOptions& options = {}, std::string scope = {});

 private:
  void build(const Shape& input_shape) override;
  Output call(const Output& inputs) override;
  BatchNormalizationOptions options_;
  std::vector<int> axes_;
  bool fused_ = false;
  Variable gamma_, beta_, moving_mean_, moving_variance_, moving_stddev_, renorm_mean_, renorm_stddev_;
  Output ones_, zeros_;  // where the fused operation wants what the layer has not
};
WEIR_API Output batch_normalization(const Output& inputs, const BatchNormalizationOptions& options = {},
                                    In::Where where = In::Where::current());

}  // namespace weir::layers
