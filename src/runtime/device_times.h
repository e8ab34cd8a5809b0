#pragma once

#include <vector>

#include "devices/memory.h"
#include "runtime/plan.h"

namespace weir {

// When the steps of a part ran, for a trace: by the clock of its device where that has one, for there they end some
// time after the host has begun them, and by the host's otherwise.
class DeviceTimes {
 public:
  // `memory` is the device's; null: the host's. Looks at both clocks.
  DeviceTimes(DeviceMemory* memory, Tracer& tracer);
  ~DeviceTimes();
  DeviceTimes(const DeviceTimes&) = delete;
  DeviceTimes& operator=(const DeviceTimes&) = delete;

  // Null: the event's own times are right.
  void* moment() const { return first_ ? memory_->moment() : nullptr; }
  void add(RunTrace::Event event, void* begin, void* end);
  // REQUIRES: the device has finished
  void settle();

 private:
  struct Timed {
    RunTrace::Event event;
    void* begin;
    void* end;
  };
  void forget() noexcept;

  DeviceMemory* const memory_;
  Tracer& tracer_;
  void* first_ = nullptr;
  int64_t first_ns_ = 0;  // on the trace's clock
  std::vector<Timed> timed_;
};

}  // namespace weir
