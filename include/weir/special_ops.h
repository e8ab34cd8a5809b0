#pragma once

#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

// Special functions, element by element, in float and double.
namespace weir {

// The regularized lower and upper incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x).
WEIR_API Output igamma(const In& a, const In& x, std::string_view name = {});
WEIR_API Output igammac(const In& a, const In& x, std::string_view name = {});
// The regularized incomplete beta function I_x(a, b). Its gradient is by x.
WEIR_API Output betainc(const In& a, const In& b, const In& x, std::string_view name = {});

}  // namespace weir
