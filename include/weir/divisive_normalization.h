#pragma once

#include <optional>
#include <string>

#include "weir/layers.h"

// Generalized divisive normalization (Balle et al., 2016): each channel by the root of a learned sum of squares of all.
namespace weir::layers {

struct GdnOptions {
  bool inverse = false;  // times the root, and not by it
  float beta_min = 1e-6f;
  float gamma_init = 0.1f;                    // the diagonal of gamma at the beginning
  float reparam_offset = 1.f / (1 << 18);     // keeps the gradients of parameters near zero from vanishing
  std::string data_format = "channels_last";  // or "channels_first"
  bool trainable = true;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// Of inputs of rank 3 to 5. Throws InvalidArgument for another data_format.
class WEIR_API GDN : public Layer {
 public:
  explicit GDN(const GdnOptions& options = {});

 protected:
  void build(const Shape& input_shape) override;
  Output call(const Output& inputs) override;

 private:
  GdnOptions options_;
  Output beta_, gamma_;
};
WEIR_API Output gdn(const Output& inputs, const GdnOptions& options = {}, In::Where where = In::Where::current());

// What it is made of. How "reparam_beta" and "reparam_gamma" begin:
WEIR_API Initializer gdn_beta_initializer(float reparam_offset);
WEIR_API Initializer gdn_gamma_initializer(float gamma_init, float reparam_offset);
// The parameter that a variable stands for: at least `minimum`. Gradients that push it up pass below the bound, too.
WEIR_API Output gdn_parameter(const Output& variable, double minimum, double reparam_offset);
WEIR_API Output gdn_outputs(const Output& inputs, const Output& beta, const Output& gamma, bool inverse,
                            bool channels_first);

}  // namespace weir::layers
