#pragma once

#include <chrono>
#include <thread>

namespace weir {

// What a loop that polls does between two looks, so that the other thread of the core gets on.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Long enough to bridge what happens between two steps of a plan without a sleep.
inline constexpr std::chrono::microseconds kSpinBetweenSteps{10};

// Polls for some microseconds; says whether `ready` came true. On a machine with one core there is nothing to poll for.
template <class Ready>
bool spin_until(Ready ready, std::chrono::microseconds time = kSpinBetweenSteps) {
  using Clock = std::chrono::steady_clock;
  static const bool alone = std::thread::hardware_concurrency() < 2;
  if (ready()) return true;
  if (alone) return false;
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      relax();
    }
  }
  return ready();
}

}  // namespace weir
