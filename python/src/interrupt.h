#pragma once

#include "weir/session.h"

namespace weir::python {

// While it lives on Python's main thread, Ctrl-C cancels `token()`; elsewhere the token is null. Python itself only
// looks at signals between its own instructions, and a run is one instruction.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  const CancelToken* token() const { return token_; }

 private:
  CancelToken* token_ = nullptr;
};

}  // namespace weir::python
