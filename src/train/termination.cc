#include "train/termination.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <string_view>

namespace weir::train {
namespace {

// A process has one handler of a signal, and so these are of the process.
std::atomic<bool> arrived{false};
std::mutex mutex;
int entered = 0;  // guarded by the mutex

void on_signal(int /*number*/) {
  arrived.store(true);
  constexpr std::string_view kText = "SIGTERM: the training ends after this step, and saves.\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  std::signal(SIGTERM, SIG_DFL);
}

auto handler() {
  struct sigaction action {};
  sigaction(SIGTERM, nullptr, &action);
  return action.sa_handler;
}

}  // namespace

Termination::Termination(bool enter) {
  const std::lock_guard lock(mutex);
  if (!enter || (entered == 0 && handler() != SIG_DFL)) return;
  if (entered++ == 0) {
    arrived.store(false);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
  }
  entered_ = true;
}

bool Termination::requested() const { return entered_ ? arrived.load() : requested_; }

void Termination::leave() {
  const std::lock_guard lock(mutex);
  if (!entered_) return;
  requested_ = arrived.load();
  entered_ = false;
  if (--entered == 0 && handler() == on_signal) std::signal(SIGTERM, SIG_DFL);
}

}  // namespace weir::train
