#include "devices/memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/errors.h"
#include "tensor/elements.h"
#include "tensor/variant.h"

namespace weir {

// A buffer on somebody's account. It keeps the one that has the bytes alive.
class DeviceMemory::Charged final : public Buffer {
 public:
  Charged(Tensor value, std::shared_ptr<DeviceMemory> memory, std::string holder)
      : Buffer(value.mutable_raw(), value.bytes()),
        value_(std::move(value)),
        memory_(std::move(memory)),
        holder_(std::move(holder)) {}
  ~Charged() override { memory_->charge(holder_, static_cast<int64_t>(bytes()), 0); }

 private:
  Tensor value_;
  std::shared_ptr<DeviceMemory> memory_;
  std::string holder_;
};

int64_t DeviceMemory::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

int64_t DeviceMemory::peak() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

Tensor DeviceMemory::allocate(DType dtype, const Shape& shape, std::string_view holder) {
  auto bytes = static_cast<int64_t>(dtype_size(dtype)) * shape.elements();
  charge(holder, 0, bytes);
  Tensor value;
  try {
    value = place(dtype, shape);
  } catch (...) {
    charge(holder, bytes, 0);
    throw;
  }
  void* data = value.mutable_raw();
  return Tensor(dtype, shape, new Charged(std::move(value), shared_from_this(), std::string(holder)), data);
}

Tensor DeviceMemory::adopt(const Tensor& value, std::string_view holder) {
  auto* charged = dynamic_cast<Charged*>(value.buffer());
  if (charged && holds(value.raw())) return value;
  charge(holder, 0, static_cast<int64_t>(value.bytes()));
  Tensor shared;
  try {
    shared = moved_here(value);
  } catch (...) {
    charge(holder, static_cast<int64_t>(value.bytes()), 0);
    throw;
  }
  void* data = shared.mutable_raw();
  return Tensor(value.dtype(), value.shape(), new Charged(shared, shared_from_this(), std::string(holder)), data);
}

Tensor DeviceMemory::moved_here(const Tensor& value) {
  if (!is_plain(value.dtype()) || holds(value.raw())) return value;
  Tensor here = place(value.dtype(), value.shape());
  copy(here.mutable_raw(), value.raw(), value.bytes(), Way::FromHost);
  return here;
}

Tensor DeviceMemory::duplicate(const Tensor& value) {
  if (on_host() || !is_plain(value.dtype())) return value.copy();
  Tensor other = place(value.dtype(), value.shape());
  copy(other.mutable_raw(), value.raw(), value.bytes(), Way::Within);
  return other;
}

Tensor DeviceMemory::to_host(const Tensor& value) {
  if (on_host() || !is_plain(value.dtype())) return value;
  Tensor there(value.dtype(), value.shape());
  copy(there.mutable_raw(), value.raw(), value.bytes(), Way::ToHost);
  finish();
  return there;
}

void DeviceMemory::copy(void* to, const void* from, size_t bytes, Way) { std::memcpy(to, from, bytes); }

void copy_between(DeviceMemory* to_memory, void* to, DeviceMemory* from_memory, const void* from, size_t bytes) {
  using Way = DeviceMemory::Way;
  if (bytes == 0) return;
  if (on_host(from_memory) && on_host(to_memory)) {
    std::memcpy(to, from, bytes);
  } else if (on_host(from_memory)) {
    to_memory->copy(to, from, bytes, Way::FromHost);
  } else if (to_memory == from_memory) {
    to_memory->copy(to, from, bytes, Way::Within);
  } else if (!on_host(to_memory) && to_memory->follows(*from_memory)) {
    to_memory->copy_behind(to, *from_memory, from, bytes);
  } else {
    // Two devices that know nothing of each other meet at the host.
    std::vector<std::byte> staged(on_host(to_memory) ? 0 : bytes);
    void* host = on_host(to_memory) ? to : staged.data();
    from_memory->copy(host, from, bytes, Way::ToHost);
    from_memory->finish();
    if (host != to) {
      to_memory->copy(to, host, bytes, Way::FromHost);
      to_memory->finish();  // before the staged bytes go
    }
  }
}

Tensor moved_between(DeviceMemory* to_memory, DeviceMemory* from_memory, const Tensor& value) {
  if (!value.valid()) return value;
  if (value.dtype() == DType::Variant) {
    Tensor moved(DType::Variant, value.shape());
    auto* from = static_cast<const Variant*>(value.raw());
    auto* to = static_cast<Variant*>(moved.mutable_raw());
    for (int64_t i = 0; i < value.elements(); ++i) {
      if (!from[i]) continue;
      to[i] = from[i]->mapped([&](const Tensor& held) { return moved_between(to_memory, from_memory, held); });
      if (!to[i]) to[i] = from[i];
    }
    return moved;
  }
  const bool far = !on_host(from_memory) && is_plain(value.dtype()) && from_memory->holds(value.raw());
  if (far && to_memory == from_memory) return value;
  const Tensor there = far ? from_memory->to_host(value) : value;
  return to_memory ? to_memory->moved_here(there) : there;
}

void DeviceMemory::charge(std::string_view holder, int64_t before, int64_t now) {
  if (before == now) return;
  std::lock_guard lock(mutex_);
  if (now > before && used_ + now - before > limit_) fail(holder, now);
  used_ += now - before;
  peak_ = std::max(peak_, used_);
  auto account = accounts_.find(holder);
  if (account == accounts_.end()) account = accounts_.emplace(std::string(holder), 0).first;
  account->second += now - before;
  if (account->second == 0) accounts_.erase(account);
}

void DeviceMemory::fail(std::string_view holder, int64_t bytes) const {
  constexpr size_t kNamed = 5;
  std::vector<std::pair<int64_t, std::string_view>> holders;
  for (const auto& [name, held] : accounts_) holders.emplace_back(held, name);
  std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string list;
  for (size_t i = 0; i < std::min(kNamed, holders.size()); ++i) {
    list += fmt::format("{}{} {}", i ? ", " : "", holders[i].second, readable_bytes(holders[i].first));
  }
  if (holders.size() > kNamed) list += fmt::format(" and {} others", holders.size() - kNamed);
  throw error(Code::ResourceExhausted, "OOM when allocating {} for {} on {}: {} of {} are in use{}{}",
              readable_bytes(bytes), holder, device_, readable_bytes(used_), readable_bytes(limit_),
              list.empty() ? "" : "; the largest holders are ", list);
}

std::string readable_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace weir
