#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "graph/op_def.h"
#include "weir/dtype.h"

namespace weir::ops {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kIsNarrowFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The type that elements of T are computed in.
template <class T>
using Wide = std::conditional_t<kIsNarrowFloat<T>, float, T>;
// The type that a result computed as R from elements of T is stored as.
template <class T, class R>
using Stored = std::conditional_t<kIsNarrowFloat<T> && std::is_same_v<R, float>, T, R>;

// What rows say of the elementwise operation that the functor F computes. F::kTile names its float32 function; one that
// answers a question names it by F::kTruth, because its kernel writes bytes.
template <class F>
constexpr ElementwiseBody body_of() {
  if constexpr (requires { F::kTile; }) {
    return F::kTile;
  } else if constexpr (requires { F::kTruth; }) {
    return F::kTruth;
  } else {
    return {};
  }
}

// Integers wrap around, as they do in TensorFlow, without the undefined behaviour of signed overflow. Small types are
// computed in 32 bits.
template <class T>
using Modular = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T wrapping_add(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
  } else {
    return a + b;
  }
}
template <class T>
T wrapping_sub(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<Modular<T>>(a) - static_cast<Modular<T>>(b));
  } else {
    return a - b;
  }
}
template <class T>
T wrapping_mul(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
  } else {
    return a * b;
  }
}
// The least value divided by -1 wraps around too; the processor would trap.
template <class T>
T wrapping_div(T a, T b) {
  if constexpr (std::is_signed_v<T> && kIsInteger<T>) {
    return b == T(-1) ? wrapping_sub(T(0), a) : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}
template <class T>
T wrapping_mod(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    return b == T(-1) ? T(0) : static_cast<T>(a % b);
  } else {
    return static_cast<T>(a % b);
  }
}

// Loops over cheap elements are cut into blocks of so many; a functor that costs more says so with kGrain.
template <class F>
constexpr int64_t grain_of() {
  if constexpr (requires { F::kGrain; }) {
    return F::kGrain;
  } else {
    return 16384;
  }
}

}  // namespace weir::ops
