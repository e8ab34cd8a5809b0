#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "ops/types.h"
#include "weir/tensor.h"

// Elements of tensors as numbers, whatever their type.
namespace weir::testing {

template <class F, class... Ts>
void visit_among(DType dtype, F&& f, Types<Ts...>) {
  (void)((dtype == dtype_of<Ts> ? (f(Ts{}), true) : false) || ...);
}
// Calls f(T{}) with the element type.
template <class F>
void visit_type(DType dtype, F&& f) {
  visit_among(dtype, std::forward<F>(f), AllTypes{});
}

// Exact for what a test writes: integers below 2^53 and floating numbers.
using Wide = std::complex<double>;
std::vector<Wide> wide_values(const Tensor& tensor);  // none of strings

// The tensor in another type; nothing when the type cannot hold the numbers. Floating types round.
std::optional<Tensor> try_convert(const Tensor& from, DType dtype);

// Numbers near those of `from` that every type can hold.
Tensor tamed(const Tensor& from);

}  // namespace weir::testing
