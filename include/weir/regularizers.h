#pragma once

#include <functional>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// What a variable adds to the loss. An empty Output adds nothing.
using Regularizer = std::function<Output(const Output& weights)>;
// Throw InvalidArgument for a scale below 0; a scale of 0 adds nothing.
WEIR_API Regularizer l1_regularizer(float scale);
WEIR_API Regularizer l2_regularizer(float scale);
WEIR_API Regularizer l1_l2_regularizer(float scale_l1 = 1, float scale_l2 = 1);
WEIR_API Regularizer sum_regularizer(std::vector<Regularizer> regularizers);

// The sum of a regularizer over weights, which is a regularization loss of the graph from then on.
WEIR_API Output apply_regularization(const Regularizer& regularizer, const std::vector<Output>& weights);

// What a variable is brought back to after each update: the value that the function gives of it.
using Constraint = std::function<Output(const Output& value)>;

}  // namespace weir
