#pragma once

#include <chrono>
#include <stop_token>

namespace weir {

// Why and when a run should end early: the session closes, the program's token is stopped, or the time is up. Steps
// that compute look between each other; steps that wait register a std::stop_callback with `stop`.
struct RunControl {
  const std::stop_token* session = nullptr;
  const std::stop_token* program = nullptr;
  // Of a plan with steps that wait: stopped for any of the reasons, and when another step of the run has failed.
  std::stop_token stop = {};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  bool cancelled() const {
    return (session && session->stop_requested()) || (program && program->stop_requested()) || stop.stop_requested();
  }
  bool has_deadline() const { return deadline != std::chrono::steady_clock::time_point::max(); }
  // Throws Cancelled or DeadlineExceeded. The clock is read only when there is a deadline.
  void check() const {
    if (cancelled() || (has_deadline() && std::chrono::steady_clock::now() >= deadline)) end();
  }
  [[noreturn]] void end() const;
};

}  // namespace weir
