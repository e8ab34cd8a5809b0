#include "tests/support/numbers.h"

#include <cmath>
#include <limits>
#include <string>

namespace weir::testing {
namespace {

template <class T>
Wide widen(const T& value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, Wide>) {
    return Wide(value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return {static_cast<double>(static_cast<float>(value)), 0};
  } else {
    return {static_cast<double>(value), 0};
  }
}

// The number in type T; nothing when T cannot hold it. Floating types round.
template <class T>
std::optional<T> narrow(Wide value) {
  double real = value.real();
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, Wide>) {
    return T(value);
  } else if (value.imag() != 0) {
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    return real == 0 || real == 1 ? std::optional<T>(real == 1) : std::nullopt;
  } else if constexpr (std::is_integral_v<T>) {
    bool fits = real == std::trunc(real) && real >= static_cast<double>(std::numeric_limits<T>::min()) &&
                real < std::ldexp(1.0, std::numeric_limits<T>::digits);
    return fits ? std::optional<T>(static_cast<T>(real)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, double>) {
    return real;
  } else {
    T rounded(static_cast<float>(real));
    bool overflow = std::isfinite(real) && !std::isfinite(static_cast<float>(rounded));
    return overflow ? std::nullopt : std::optional<T>(rounded);
  }
}

}  // namespace

std::vector<Wide> wide_values(const Tensor& tensor) {
  std::vector<Wide> values;
  visit_type(tensor.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, std::string>) {
      for (const T& value : tensor.data<T>()) values.push_back(widen(value));
    }
  });
  return values;
}

std::optional<Tensor> try_convert(const Tensor& from, DType dtype) {
  if (from.dtype() == dtype) return from;
  if (from.dtype() == string || dtype == string) return std::nullopt;
  Tensor to(dtype, from.shape());
  bool fits = true;
  std::vector<Wide> values = wide_values(from);
  visit_type(dtype, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, std::string>) {
      for (size_t i = 0; i < values.size(); ++i) {
        std::optional<T> value = narrow<T>(values[i]);
        fits &= value.has_value();
        to.mutable_data<T>()[i] = value.value_or(T{});
      }
    }
  });
  return fits ? std::optional<Tensor>(to) : std::nullopt;
}

Tensor tamed(const Tensor& from) {
  Tensor to(int64, from.shape());
  std::vector<Wide> values = wide_values(from);
  for (size_t i = 0; i < values.size(); ++i) {
    to.mutable_data<int64_t>()[i] = std::llround(std::min(std::abs(values[i].real()), 100.0));
  }
  return to;
}

}  // namespace weir::testing
