#pragma once

#include <Python.h>
#include <cxxabi.h>

#include <stop_token>

// The interpreter lock. Threads that nobody joins (daemon threads, the lanes of their runs) may still be inside a run
// when the interpreter ends; Python ends a thread that asks for the lock then by unwinding it, which C++ frames do not
// survive. So they stop here instead, for the rest of the process.
namespace weir::python {

// Never returns.
[[noreturn]] void stay();

// Calls what may run Python's code; a thread that Python ends there stays instead.
template <class F>
void stay_if_unwound(F f) {
  try {
    f();
  } catch (const abi::__forced_unwind&) {
    stay();  // leaving the handler would end the process
  }
}

// Releases the lock while it lives.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the lock while it lives, on any thread.
class Locked {
 public:
  Locked();
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// Holds the lock while it lives, if the thread gets it: threads that Python does not know ask in vain once the
// interpreter ends, and go on without.
class TryLocked {
 public:
  TryLocked();
  ~TryLocked() {
    if (held_) PyGILState_Release(state_);
  }
  TryLocked(const TryLocked&) = delete;
  TryLocked& operator=(const TryLocked&) = delete;
  explicit operator bool() const { return held_; }

 private:
  PyGILState_STATE state_ = {};
  bool held_;
};

// Gives up a reference that C++ held, on any thread. At the end of the interpreter it is left alone: C++ may hold locks
// of its own here, and must not stay.
void release(PyObject* object);

// Stopped when the interpreter is about to end: the runs of other threads than the main one end with it.
const std::stop_token& interpreter_end();

// Whether this is the thread on which Python handles signals and ends.
bool on_main_thread();

// Called by the last of Python's functions for the exit, with the lock held: ends the runs of other threads and waits
// until none of them is on its way to the lock.
void at_interpreter_end();

}  // namespace weir::python
