#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weir::examples {

// "12.3 s", "2 min 05 s", "1 h 02 min".
std::string duration_text(double seconds);

// How far a training is: a bar that is redrawn on a terminal, a plain line every hundred steps elsewhere.
class Progress {
 public:
  // `first` steps are done already; each step has `examples`.
  Progress(int64_t first, int64_t steps, int64_t examples);

  // After each step; draws now and then.
  void step_done(int64_t step, float loss);
  // Ends the bar's line.
  void finish();

  double seconds() const;  // since the beginning
  double examples_per_second() const;

 private:
  std::string line(float loss) const;

  const int64_t first_, steps_, examples_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_ = begin_ - std::chrono::hours(1);
  int64_t step_;
};

}  // namespace weir::examples
