#pragma once

#include <stop_token>

#include "base/function_ref.h"

// What Ctrl-C does to a run. Python looks at signals between its own instructions, and a run is one instruction; so a
// run on the main thread looks at them itself:
//   - with Python's own handler, which raises KeyboardInterrupt, SIGINT stops the run at once;
//   - a handler of the program's own is called while the run goes on, on another thread; the run is stopped when the
//     handler raises, whatever it raises, and goes on when it returns;
//   - where SIGINT is ignored or ends the process, nothing is done.
// A run inside a function that another run calls (py_func) ends with that other run, too.
namespace weir::python {

// Calls `run` without the interpreter lock, which the caller holds, with a token that is stopped for all of these
// reasons and when the interpreter ends. Throws what `run` throws, or the exception of the program's handler.
void run_interruptibly(FunctionRef<void(const std::stop_token&)> run);

// A function of the program, called by a run whose token is `stop`, while it lives: runs inside the function end with
// that run, and signals are the function's to handle, as long as it is on the main thread.
class InsideRun {
 public:
  explicit InsideRun(const std::stop_token* stop);
  ~InsideRun();
  InsideRun(const InsideRun&) = delete;
  InsideRun& operator=(const InsideRun&) = delete;

 private:
  const std::stop_token* outer_;
  std::stop_source* interrupted_;  // what SIGINT stopped before, if this is the main thread
};

}  // namespace weir::python
