#include "interrupt.h"

#include <nanobind/nanobind.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/fork.h"
#include "gil.h"
#include "runtime/lanes.h"

namespace nb = nanobind;

namespace weir::python {
namespace {

thread_local const std::stop_token* enclosing = nullptr;  // of the run that calls the function this thread is in

// The handler may do next to nothing, so it wakes a thread: one that stops the run, or the main thread itself while
// its run goes on elsewhere.
struct Watcher {
  const uint64_t forks = fork_count();
  int wake = -1, bell = -1;
  bool programs_own = false;  // the program has a handler of its own
  std::mutex mutex;
  std::stop_source* current = nullptr;  // of the run on the main thread; guarded by `mutex`
  // Times without a change of `current` are numbered: a signal stops only what was current when it came. Whatever came
  // before has been handled by Python already, or will be.
  std::atomic<uint64_t> stretch{0}, interrupted{0};
  std::stop_source reusable{std::nostopstate};
  struct sigaction python = {};  // what was there before
};
Watcher* watcher = nullptr;

void ring(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(event, &one, sizeof one);
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  watcher->interrupted.store(watcher->stretch.load());
  // Python's handler comes first: who is woken asks Python what came.
  if (watcher->python.sa_flags & SA_SIGINFO) {
    watcher->python.sa_sigaction(signal, info, context);
  } else if (watcher->python.sa_handler != SIG_DFL && watcher->python.sa_handler != SIG_IGN) {
    watcher->python.sa_handler(signal);
  }
  if (watcher->forks == fork_count()) {  // the events are the parent's, too
    ring(watcher->wake);
    ring(watcher->bell);
  }
  errno = saved;
}

void watch(Watcher* own) {
  // Signals are for the main thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    uint64_t count = 0;
    if (read(own->wake, &count, sizeof count) < 0) continue;
    std::lock_guard lock(own->mutex);
    if (own->current && own->interrupted.load() == own->stretch.load()) own->current->request_stop();
  }
}

bool start() {
  if (watcher && watcher->forks == fork_count()) return true;
  auto fresh = std::make_unique<Watcher>();
  fresh->wake = eventfd(0, EFD_CLOEXEC);
  fresh->bell = eventfd(0, EFD_CLOEXEC);
  if (fresh->wake < 0 || fresh->bell < 0) return false;
  if (watcher) fresh->python = watcher->python;
  std::thread(watch, fresh.get()).detach();
  watcher = fresh.release();  // for the life of the process: the thread uses it
  return true;
}

bool has_own_handler() {
  nb::object signals = nb::module_::import_("signal");
  nb::object handler = signals.attr("getsignal")(SIGINT);
  return !handler.is_none() && !handler.is(signals.attr("default_int_handler"));
}

// Stands before Python's handler. Checked for every run because a program may set a handler of its own meanwhile.
bool install() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) != 0) return false;
  const bool installed = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt;
  if (installed && watcher->forks == fork_count()) return true;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return false;
  const bool own_handler = has_own_handler();
  if (!start()) return false;
  watcher->programs_own = own_handler;
  if (installed) return true;
  watcher->python = now;
  struct sigaction own = now;
  own.sa_sigaction = on_interrupt;
  own.sa_flags = now.sa_flags | SA_SIGINFO;
  return sigaction(SIGINT, &own, nullptr) == 0;
}

// Makes `source`, or nothing, what SIGINT stops; gives what it stopped before.
std::stop_source* exchange_current(std::stop_source* source) {
  std::lock_guard lock(watcher->mutex);
  watcher->stretch.fetch_add(1);
  return std::exchange(watcher->current, source);
}

// Stops `source` when the enclosing run, if there is one, is stopped.
class Chained {
 public:
  explicit Chained(std::stop_source& source) {
    if (enclosing) callback_.emplace(*enclosing, Stop{&source});
  }

 private:
  struct Stop {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };
  std::optional<std::stop_callback<Stop>> callback_;
};

using Run = FunctionRef<void(const std::stop_token&)>;

// SIGINT stops the run.
void run_stoppably(Run run) {
  // The usual run takes the source of the one before it, unless that one was stopped.
  std::stop_source own{std::nostopstate};
  std::stop_source* source = &watcher->reusable;
  if (enclosing) {
    source = &(own = std::stop_source());
  } else if (!source->stop_possible() || source->stop_requested()) {
    *source = std::stop_source();
  }
  Chained chained(*source);
  std::stop_source* before = exchange_current(source);
  // A signal that came just before is Python's to handle still; from here on it stops the run.
  if (PyErr_CheckSignals() != 0) {
    exchange_current(before);
    throw nb::python_error();
  }
  std::exception_ptr failure;
  {
    Unlocked unlocked;
    try {
      run(source->get_token());
    } catch (...) {
      failure = std::current_exception();
    }
    exchange_current(before);
  }
  if (failure) std::rethrow_exception(failure);
}

// The run goes on elsewhere while this thread, the main one, handles signals.
void run_beside(Run run) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // what came before the bell was there
  std::stop_source source;
  Chained chained(source);
  std::stop_source* before = exchange_current(nullptr);
  std::exception_ptr failure;
  std::atomic<bool> ended = false;
  auto work = [&, bell = watcher->bell] {
    try {
      run(source.get_token());
    } catch (...) {
      failure = std::current_exception();
    }
    ended.store(true);
    ring(bell);
  };
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  std::optional<nb::python_error> raised;
  {
    Unlocked unlocked;
    lanes->start(work);
    while (!ended) {
      uint64_t count = 0;
      [[maybe_unused]] ssize_t got = read(watcher->bell, &count, sizeof count);
      if (ended || raised) continue;
      Locked locked;
      if (PyErr_CheckSignals() == 0) continue;
      raised.emplace();
      source.request_stop();
    }
    exchange_current(before);
  }
  if (raised) throw nb::python_error(*raised);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void run_interruptibly(Run run) {
  if (on_main_thread() && install()) return watcher->programs_own ? run_beside(run) : run_stoppably(run);
  if (!enclosing) {
    Unlocked unlocked;
    return run(interpreter_end());
  }
  std::stop_source source;
  Chained chained(source);
  Unlocked unlocked;
  run(source.get_token());
}

InsideRun::InsideRun(const std::stop_token* stop) : outer_(std::exchange(enclosing, stop)) {
  interrupted_ = watcher && on_main_thread() ? exchange_current(nullptr) : nullptr;
}

InsideRun::~InsideRun() {
  enclosing = outer_;
  if (interrupted_) exchange_current(interrupted_);
}

}  // namespace weir::python
