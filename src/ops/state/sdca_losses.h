#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/errors.h"

// The losses that stochastic dual coordinate ascent knows, each with what a step needs of it. Weights of examples
// multiply losses. `dual` is the example's dual variable, `wx` the model's answer, `norm` the squared length of the
// example over the strength of the L2 regularisation.
namespace weir::ops::sdca {

struct Place {
  double label, weight, dual, wx, norm;
  double partitions;  // how many others do the same to other parts of the examples

  double curvature() const { return partitions * weight * norm; }
};

class Loss {
 public:
  virtual ~Loss() = default;
  // The label as the loss counts it. Throws InvalidArgument for one that it has no meaning for.
  virtual double label(float given) const = 0;
  // The dual variable that gains most.
  virtual double updated_dual(const Place& p) const = 0;
  virtual double primal_loss(double wx, double label, double weight) const = 0;
  virtual double dual_loss(double dual, double label, double weight) const = 0;
  // For choosing examples: the derivative of the primal loss, and how smooth that is.
  virtual double derivative(double wx, double label) const = 0;
  virtual double smoothness() const = 0;
};

// Throws InvalidArgument for an unknown name.
const Loss& loss_named(const std::string& name);

}  // namespace weir::ops::sdca
