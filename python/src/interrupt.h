#pragma once

#include "weir/session.h"

namespace weir::python {

// While it lives on Python's main thread, Ctrl-C stops `token()`; elsewhere that is a token of nothing. Python itself
// only looks at signals between its own instructions, and a run is one instruction.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  const std::stop_token& token() const { return token_; }

 private:
  std::stop_token token_;
};

}  // namespace weir::python
