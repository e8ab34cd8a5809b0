#include "runtime/device_times.h"

#include <utility>

namespace weir {

DeviceTimes::DeviceTimes(DeviceMemory* memory, Tracer& tracer) : memory_(memory), tracer_(tracer) {
  if (!memory_) return;
  first_ = memory_->moment();
  if (!first_) return;
  memory_->finish();
  first_ns_ = tracer_.since_begin(std::chrono::steady_clock::now());
}

DeviceTimes::~DeviceTimes() { forget(); }

void DeviceTimes::add(RunTrace::Event event, void* begin, void* end) {
  if (!begin || !end) return tracer_.add(std::move(event));
  timed_.push_back({std::move(event), begin, end});
}

void DeviceTimes::settle() {
  for (Timed& timed : timed_) {
    timed.event.start_ns = first_ns_ + memory_->nanoseconds(first_, timed.begin);
    timed.event.end_ns = first_ns_ + memory_->nanoseconds(first_, timed.end);
    tracer_.add(std::move(timed.event));
  }
  forget();
}

void DeviceTimes::forget() noexcept {
  for (const Timed& timed : timed_) {
    memory_->forget_moment(timed.begin);
    memory_->forget_moment(timed.end);
  }
  timed_.clear();
  if (void* first = std::exchange(first_, nullptr)) memory_->forget_moment(first);
}

}  // namespace weir
