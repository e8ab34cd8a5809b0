#pragma once

#include <fmt/core.h>

#include <utility>

#include "weir/error.h"

namespace weir::data {

// throw failure(Code::DataLoss, "'{}' is cut short", path);
template <class... Args>
Error failure(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace weir::data
