#pragma once

#include <cstdio>
#include <string>

#include "weir/session_manager.h"

namespace weir::train {

// The log that was given, or the standard error stream.
inline Log log_or_stderr(const Log& log) {
  if (log) return log;
  return [](std::string_view text) {
    const std::string line = std::string(text) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
}

}  // namespace weir::train
