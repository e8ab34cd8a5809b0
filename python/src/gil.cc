#include "gil.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/fork.h"

namespace weir::python {

void stay() {
  for (;;) pause();
}

namespace {

std::stop_source& end_source() {
  static auto* source = new std::stop_source;  // never destroyed: threads may look at it until the process is gone
  return *source;
}

std::atomic<bool> ended = false;
std::atomic<int> on_their_way = 0;  // threads that may be waiting for the lock

// Calls `take`, unless the interpreter ends; says whether it did. Both variables are sequentially consistent: either
// the thread sees that the end has begun, or at_interpreter_end() sees the thread.
template <class Take>
bool take_lock(Take take) {
  ++on_their_way;
  const bool may = !ended || on_main_thread();
  if (may) stay_if_unwound(take);
  --on_their_way;
  return may;
}

}  // namespace

Unlocked::~Unlocked() {
  if (!take_lock([this] { PyEval_RestoreThread(state_); })) stay();
}

Locked::Locked() {
  if (!take_lock([this] { state_ = PyGILState_Ensure(); })) stay();
}

TryLocked::TryLocked() : held_(take_lock([this] { state_ = PyGILState_Ensure(); })) {}

void release(PyObject* object) {
  PyGILState_STATE state;
  if (!take_lock([&] { state = PyGILState_Ensure(); })) return;
  Py_DECREF(object);
  PyGILState_Release(state);
}

const std::stop_token& interpreter_end() {
  static auto* token = new std::stop_token(end_source().get_token());
  return *token;
}

bool on_main_thread() {
  // The main thread has the number of the process, also of one that another thread forked.
  struct Known {
    uint64_t forks = ~uint64_t{0};
    bool is_main = false;
  };
  thread_local Known known;
  if (known.forks != fork_count()) known = {fork_count(), gettid() == getpid()};
  return known.is_main;
}

void at_interpreter_end() {
  ended = true;
  Unlocked unlocked;
  end_source().request_stop();
  while (on_their_way != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace weir::python
