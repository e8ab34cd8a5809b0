#include "interrupt.h"

#include <Python.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace weir::python {
namespace {

// The handler may do next to nothing, so it wakes a thread that cancels.
struct Watcher {
  int wake = -1;
  std::mutex mutex;
  std::stop_source* current = nullptr;  // of the run on the main thread
  // Runs are numbered: one that begins before the thread wakes up is not the one that was interrupted.
  std::atomic<uint64_t> run{0}, interrupted{0};
  std::stop_source reusable{std::nostopstate};
  struct sigaction python = {};  // what was there before
};
Watcher* watcher = nullptr;

void on_interrupt(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const uint64_t one = 1;
  watcher->interrupted.store(watcher->run.load());
  [[maybe_unused]] ssize_t written = write(watcher->wake, &one, sizeof one);
  if (watcher->python.sa_flags & SA_SIGINFO) {
    watcher->python.sa_sigaction(signal, info, context);
  } else if (watcher->python.sa_handler != SIG_DFL && watcher->python.sa_handler != SIG_IGN) {
    watcher->python.sa_handler(signal);
  }
  errno = saved;
}

void watch() {
  // Signals are for the main thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    uint64_t count = 0;
    if (read(watcher->wake, &count, sizeof count) < 0) continue;
    std::lock_guard lock(watcher->mutex);
    if (watcher->current && watcher->interrupted.load() == watcher->run.load()) watcher->current->request_stop();
  }
}

bool start() {
  if (watcher) return true;
  auto fresh = std::make_unique<Watcher>();
  fresh->wake = eventfd(0, EFD_CLOEXEC);
  if (fresh->wake < 0) return false;
  watcher = fresh.release();  // for the life of the process: the thread uses it
  std::thread(watch).detach();
  return true;
}

// Stands before Python's handler. Checked for every run because a program may set a handler of its own meanwhile.
bool install() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt) return true;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return false;
  if (!start()) return false;
  watcher->python = now;
  struct sigaction own = now;
  own.sa_sigaction = on_interrupt;
  own.sa_flags = now.sa_flags | SA_SIGINFO;
  return sigaction(SIGINT, &own, nullptr) == 0;
}

bool on_main_thread() {
  static const long main_thread = static_cast<long>(getpid());
  return static_cast<long>(gettid()) == main_thread;
}

}  // namespace

Interruptible::Interruptible() {
  if (!on_main_thread() || !install()) return;
  std::lock_guard lock(watcher->mutex);
  if (!watcher->reusable.stop_possible() || watcher->reusable.stop_requested()) watcher->reusable = std::stop_source();
  watcher->current = &watcher->reusable;
  token_ = watcher->reusable.get_token();
  watcher->run.fetch_add(1);
}

Interruptible::~Interruptible() {
  if (!token_.stop_possible()) return;
  std::lock_guard lock(watcher->mutex);
  watcher->current = nullptr;
}

}  // namespace weir::python
