#pragma once

#include <chrono>
#include <thread>

namespace weir {

// What a thread does between two looks at something that is about to change.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Polls for a few microseconds, which bridges what happens between two steps without a sleep; says whether `ready` came
// true. On a machine with one core there is nothing to poll for.
template <class Ready>
bool spin_until(Ready ready) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kSpin{10};
  static const bool alone = std::thread::hardware_concurrency() < 2;
  if (ready()) return true;
  if (alone) return false;
  for (const auto end = Clock::now() + kSpin; Clock::now() < end;) {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
      pause();
    }
  }
  return false;
}

}  // namespace weir
