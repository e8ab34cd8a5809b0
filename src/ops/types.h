#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "ops/kernel.h"

namespace weir {

// Lists of element types and the dispatch from a node's type attribute to a template: the only place where DType
// becomes a C++ type.
template <class... Ts>
struct Types {};

template <class... A, class... B>
Types<A..., B...> operator+(Types<A...>, Types<B...>);

using FloatTypes = Types<float, double, Half, BFloat16>;
using IntTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using RealTypes = decltype(FloatTypes{} + IntTypes{});
using ComplexTypes = Types<std::complex<float>, std::complex<double>>;
using NumberTypes = decltype(RealTypes{} + ComplexTypes{});
using PodTypes = decltype(NumberTypes{} + Types<bool>{});
using AllTypes = decltype(PodTypes{} + Types<std::string>{});

// kernel_for<FloatTypes, cpu>() as Kernel::select, where `cpu` is a struct with `template <class T> static void
// run(KernelContext&)`. The type is that of attribute "T" (or of the one given).
struct AttrT {
  static constexpr std::string_view name = "T";
};
struct AttrDtype {
  static constexpr std::string_view name = "dtype";
};

namespace detail {
template <class K, class... Ts>
ComputeFn select_among(DType dtype, Types<Ts...>) {
  ComputeFn found = nullptr;
  (void)((dtype == dtype_of<Ts> ? (found = &K::template run<Ts>, true) : false) || ...);
  return found;
}
}  // namespace detail

template <class List, class K, class Attr = AttrT>
ComputeFn kernel_for(const NodeView& node) {
  return detail::select_among<K>(node.type(Attr::name), List{});
}

// A kernel that does not depend on types.
template <ComputeFn Fn>
ComputeFn kernel_any(const NodeView&) {
  return Fn;
}

// The same for one that waits: Kernel::start.
template <StartFn Fn>
StartFn start_any(const NodeView&) {
  return Fn;
}

}  // namespace weir
