#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace weir::examples {

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 60) return fmt::format("{:.1f} s", seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(int64_t first, int64_t steps, int64_t examples)
    : first_(first), steps_(steps), examples_(examples), terminal_(isatty(STDOUT_FILENO) != 0), step_(first) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

double Progress::examples_per_second() const {
  return static_cast<double>((step_ - first_) * examples_) / std::max(seconds(), 1e-9);
}

std::string Progress::line(float loss) const {
  const double left = seconds() * static_cast<double>(steps_ - step_) / static_cast<double>(step_ - first_);
  return fmt::format("step {:>{}}/{}  loss {:.3f}  {:.0f} examples/s  {} left", step_, std::to_string(steps_).size(),
                     steps_, loss, examples_per_second(), duration_text(left));
}

void Progress::step_done(int64_t step, float loss) {
  step_ = step;
  if (!terminal_) {
    if (step % 100 == 0 || step == steps_) {
      fmt::print("{}\n", line(loss));
      std::fflush(stdout);
    }
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100) && step != steps_) return;
  drawn_ = now;
  constexpr int64_t kWidth = 24;
  const int64_t done = kWidth * step / std::max<int64_t>(steps_, 1);
  fmt::print("\r[{:=<{}}{:<{}}] {}\x1b[K", "", done, "", kWidth - done, line(loss));
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal_ && step_ > first_) fmt::print("\n");
}

}  // namespace weir::examples
