#pragma once

#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

struct AssertOptions {
  int64_t summarize = 3;  // how many elements of each tensor are printed
};
// Fails with InvalidArgument, printing `data`, when `condition` is false. It does something only where other operations
// depend on it (control_dependencies) or where it is run as a target.
WEIR_API Operation assert_true(const In& condition, const InList& data, const AssertOptions& options = {},
                               std::string_view name = {});

struct PrintOptions {
  std::string_view message = {};
  int64_t first_n = -1;   // print this often only; -1: always
  int64_t summarize = 3;  // how many elements of each tensor are printed
};
// Passes `input` on and writes `data` to the standard error stream each time.
WEIR_API Output print(const In& input, const InList& data, const PrintOptions& options = {},
                      std::string_view name = {});

// Passes `tensor` on; fails with InvalidArgument, quoting `message`, when it holds an infinity or a NaN.
WEIR_API Output check_numerics(const In& tensor, std::string_view message, std::string_view name = {});

}  // namespace weir
