#pragma once

#include <fmt/core.h>

#include <utility>

#include "weir/error.h"

namespace weir {

// A mistake that TensorFlow leaves to the run even where the graph already shows it, so programs may make such nodes
// and expect the error of Session::run. A shape function that throws one leaves the shapes that it has not set unknown
// while a graph is built; a plan fails with it as with any other.
class RunCheck : public Error {
 public:
  using Error::Error;
};

template <class... Args>
RunCheck run_check(fmt::format_string<Args...> format, Args&&... args) {
  return RunCheck(Code::InvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace weir
