#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/gradients.h"

// Clipping of gradients as they come from gradients(): dense, sparse or none. For outputs see math_ops.h.
namespace weir {

// Scales t down so that the mean over its elements of the Euclidean norm is at most clip_norm.
WEIR_API Output clip_by_average_norm(const In& t, const In& clip_norm, std::string_view name = {});
// Of a sparse gradient the values are clipped; equal indices count apart.
WEIR_API Gradient clip_gradient_by_norm(const Gradient& gradient, const In& clip_norm, std::string_view name = {});
// The norm over all gradients, and the gradients scaled by clip_norm / max(norm, clip_norm).
WEIR_API Output global_norm_of_gradients(const std::vector<Gradient>& gradients, std::string_view name = {},
                                         In::Where where = In::Where::current());
WEIR_API std::pair<std::vector<Gradient>, Output> clip_gradients_by_global_norm(const std::vector<Gradient>& gradients,
                                                                                const In& clip_norm,
                                                                                Output use_norm = {},
                                                                                std::string_view name = {});

}  // namespace weir
