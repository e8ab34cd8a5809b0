#pragma once

#include <fmt/core.h>

#include <utility>

#include "weir/error.h"

namespace weir {

// throw invalid_argument("axis {} of a tensor of rank {}", axis, rank);
template <class... Args>
Error error(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Error(code, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
Error invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::InvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}
// A tensor or value of a wrong type.
template <class... Args>
Error wrong_type(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::InvalidArgument, fmt::format(format, std::forward<Args>(args)...), Fault::Type);
}
template <class... Args>
Error not_found(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::NotFound, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace weir
