#include "devices/accelerator/accelerator_memory.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/errors.h"
#include "tensor/elements.h"

namespace weir::accelerator {
namespace {

constexpr size_t kStagingBytes = size_t{1} << 20;
constexpr size_t kKeptStaging = size_t{64} << 20;
constexpr size_t kLargestOutgoing = size_t{64} << 20;  // larger ones go straight to their place
constexpr int32_t kNothingBad = std::numeric_limits<int32_t>::max();

}  // namespace

class AcceleratorMemory::Block final : public Buffer {
 public:
  Block(char* data, size_t bytes, std::shared_ptr<AcceleratorMemory> memory)
      : Buffer(data, bytes), memory_(std::move(memory)) {}
  ~Block() override { memory_->allocator_.give_back(static_cast<char*>(data())); }

 private:
  std::shared_ptr<AcceleratorMemory> memory_;
};

AcceleratorMemory::AcceleratorMemory(std::string device, std::shared_ptr<Driver> driver,
                                     const Allocator::Options& options, const Transfers::Options& transfers)
    : DeviceMemory(device, options.limit),
      device_(std::move(device)),
      driver_(std::move(driver)),
      allocator_(*driver_, options),
      transfers_(
          *driver_, allocator_,
          {.least = transfers.least, .piece = std::min(transfers.piece, static_cast<size_t>(options.limit) / 64)}) {}

AcceleratorMemory::~AcceleratorMemory() {
  // Copies may still read what is staged.
  try {
    driver_->wait(transfers_.mark_out());
  } catch (...) {  // a device that is lost reads nothing
  }
  for (const auto* list : {&idle_, &busy_}) {
    for (const Staging& staging : *list) driver_->unpin(staging.data);
  }
  for (const Outgoing& outgoing : outgoing_) driver_->unpin(outgoing.staging.data);
}

Tensor AcceleratorMemory::place(DType dtype, const Shape& shape) {
  if (!is_plain(dtype)) return Tensor(dtype, shape);
  const size_t bytes = static_cast<size_t>(shape.elements()) * dtype_size(dtype);
  char* data = allocator_.take(bytes);
  if (!data) {
    throw error(
        Code::ResourceExhausted,
        "OOM when allocating tensor with shape {} and type {} on {}: {} of {} are taken from the driver, and no "
        "block of {} is free in them",
        shape.str(), dtype_name(dtype), device_, readable_bytes(allocator_.reserved()), readable_bytes(limit()),
        readable_bytes(static_cast<int64_t>(bytes)));
  }
  auto self = std::static_pointer_cast<AcceleratorMemory>(shared_from_this());
  return Tensor(dtype, shape, new Block(data, bytes, std::move(self)), data);
}

// "; the largest holders are ...", as the accounts tell it who ask for too much; empty when there are none.
std::string AcceleratorMemory::holders() {
  try {
    charge("", 0, limit() + 1);
    return "";
  } catch (const Error& e) {
    const std::string text = e.what();
    const size_t at = text.find("; the largest holders");
    return at == std::string::npos ? "" : text.substr(at);
  }
}

AcceleratorMemory::Staging AcceleratorMemory::idle_staging(size_t bytes) {
  auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Staging& s) { return s.bytes >= bytes; });
  if (found == idle_.end()) {
    const size_t size = std::max(bytes, kStagingBytes);
    return {static_cast<char*>(driver_->pin(size)), size, 0};
  }
  const Staging staging = *found;
  idle_.erase(found);
  return staging;
}

char* AcceleratorMemory::stage(size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  if (busy_.empty() || busy_.back().bytes - busy_.back().used < bytes) busy_.push_back(idle_staging(bytes));
  Staging& staging = busy_.back();
  char* data = staging.data + staging.used;
  staging.used += bytes;
  return data;
}

// What nobody reads or writes any more.
void AcceleratorMemory::keep(Staging staging) {
  size_t kept = staging.bytes;
  for (const Staging& s : idle_) kept += s.bytes;
  if (kept > kKeptStaging) return driver_->unpin(staging.data);
  staging.used = 0;
  idle_.push_back(staging);
}

void AcceleratorMemory::copy(void* to, const void* from, size_t bytes, Way way) {
  if (bytes == 0) return;
  if (way == Way::FromHost) {
    from_host_.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard lock(staging_mutex_);
    char* staged = stage(bytes);
    std::memcpy(staged, from, bytes);
    transfers_.in(to, staged, bytes);
  } else if (way == Way::ToHost) {
    to_host_.fetch_add(1, std::memory_order_relaxed);
    copy_out(to, from, bytes);
  } else {
    within_.fetch_add(1, std::memory_order_relaxed);
    driver_->copy(to, from, bytes, way);
  }
}

void AcceleratorMemory::copy_out(void* to, const void* from, size_t bytes) {
  if (bytes > kLargestOutgoing) return driver_->copy(to, from, bytes, Way::ToHost);
  std::lock_guard lock(staging_mutex_);
  outgoing_.push_back({std::this_thread::get_id(), to, bytes, idle_staging(bytes)});
  transfers_.out(outgoing_.back().staging.data, from, bytes);
}

bool AcceleratorMemory::follows(const DeviceMemory& other) const {
  const auto* there = dynamic_cast<const AcceleratorMemory*>(&other);
  return there && there != this && driver_->knows(*there->driver_);
}

// By way of pinned memory, which both devices reach. Nobody waits: the copy to here is begun behind a mark of the other
// device.
void AcceleratorMemory::copy_behind(void* to, DeviceMemory& other, const void* from, size_t bytes) {
  if (bytes == 0) return;
  auto& there = dynamic_cast<AcceleratorMemory&>(other);
  across_.fetch_add(1, std::memory_order_relaxed);
  // Busy once the copies have been begun, so that a later mark is behind them.
  struct Lent {
    AcceleratorMemory& memory;
    Staging staging;
    ~Lent() {
      if (!staging.data) return;
      staging.used = staging.bytes;  // nothing else is put there
      std::lock_guard lock(memory.staging_mutex_);
      memory.busy_.insert(memory.busy_.begin(), staging);
    }
  } lent{*this, {}};
  {
    std::lock_guard lock(staging_mutex_);
    lent.staging = idle_staging(bytes);
  }
  there.transfers_.out(lent.staging.data, from, bytes);
  EventHandle mark = there.transfers_.mark_out();
  transfers_.in(to, lent.staging.data, bytes, mark);
  there.driver_->forget(mark);
}

std::vector<AcceleratorMemory::Outgoing> AcceleratorMemory::take_outgoing() {
  std::vector<Outgoing> taken;
  const auto self = std::this_thread::get_id();
  std::lock_guard lock(staging_mutex_);
  std::erase_if(outgoing_, [&](const Outgoing& outgoing) {
    if (outgoing.thread != self) return false;
    taken.push_back(outgoing);
    return true;
  });
  return taken;
}

// Waits for everything, and puts what has arrived in its place.
void AcceleratorMemory::await(std::vector<Outgoing> arriving) {
  // What was staged before the mark is read when the mark is reached.
  std::vector<Staging> read;
  EventHandle mark = nullptr;
  {
    std::lock_guard lock(staging_mutex_);
    mark = transfers_.mark_out();
    read.swap(busy_);
  }
  struct Return {
    AcceleratorMemory& memory;
    std::vector<Staging>& read;
    std::vector<Outgoing>& arriving;
    ~Return() {
      std::lock_guard lock(memory.staging_mutex_);
      for (const Staging& s : read) memory.keep(s);
      for (const Outgoing& outgoing : arriving) memory.keep(outgoing.staging);
    }
  } return_them{*this, read, arriving};
  driver_->wait(mark);
  for (const Outgoing& outgoing : arriving) std::memcpy(outgoing.to, outgoing.staging.data, outgoing.bytes);
}

void AcceleratorMemory::finish() {
  waits_.fetch_add(1, std::memory_order_relaxed);
  std::vector<Check> checks;
  if (check_count_.load(std::memory_order_relaxed) > 0) checks = take_checks();
  std::vector<int32_t> found(checks.size() * 3, kNothingBad);
  for (size_t i = 0; i < checks.size(); ++i) copy_out(&found[i * 3], checks[i].flag.raw(), 12);
  std::vector<Outgoing> arriving = take_outgoing();
  await(std::move(arriving));
  for (size_t i = 0; i < checks.size(); ++i) {
    const int32_t* flag = &found[i * 3];
    if (flag[0] == kNothingBad) continue;
    const auto value = static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(flag[2])) << 32) |
                                            static_cast<uint32_t>(flag[1]));
    throw checks[i].blame(flag[0], value);
  }
}

void AcceleratorMemory::abandon() noexcept {
  try {
    forget_checks();
    std::vector<Outgoing> arriving = take_outgoing();
    for (Outgoing& outgoing : arriving) outgoing.bytes = 0;  // its place may be gone
    await(std::move(arriving));
  } catch (...) {  // a device that is lost writes nothing
  }
}

void* AcceleratorMemory::check_later(Blame blame) {
  Tensor flag = place(DType::Int32, {3});
  const int32_t start[3] = {kNothingBad, 0, 0};
  copy(flag.mutable_raw(), start, sizeof start, Way::FromHost);
  void* data = flag.mutable_raw();
  std::lock_guard lock(checks_mutex_);
  checks_.push_back({std::this_thread::get_id(), std::move(flag), std::move(blame)});
  check_count_.store(static_cast<int>(checks_.size()), std::memory_order_relaxed);
  return data;
}

std::vector<AcceleratorMemory::Check> AcceleratorMemory::take_checks() {
  std::vector<Check> taken;
  std::lock_guard lock(checks_mutex_);
  const auto self = std::this_thread::get_id();
  auto others =
      std::stable_partition(checks_.begin(), checks_.end(), [&](const Check& check) { return check.thread != self; });
  std::move(others, checks_.end(), std::back_inserter(taken));
  checks_.erase(others, checks_.end());
  check_count_.store(static_cast<int>(checks_.size()), std::memory_order_relaxed);
  return taken;
}

AcceleratorMemory::Counts AcceleratorMemory::counts() const {
  return {launches_, from_host_, to_host_, within_, across_, waits_};
}

}  // namespace weir::accelerator
