#include "tests/support/protected_device.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/errors.h"
#include "devices/virtual_gpu.h"
#include "tensor/elements.h"

namespace weir::testing {
namespace {

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

class ProtectedMemory::Block final : public Buffer {
 public:
  Block(char* data, size_t bytes, std::shared_ptr<ProtectedMemory> memory)
      : Buffer(data, bytes), memory_(std::move(memory)) {}
  ~Block() override { memory_->give_back(static_cast<char*>(data()), bytes()); }

 private:
  std::shared_ptr<ProtectedMemory> memory_;
};

ProtectedMemory::ProtectedMemory(std::string device, size_t bytes)
    : DeviceMemory(std::move(device), static_cast<int64_t>(bytes)), bytes_(bytes) {
  void* region = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) throw error(Code::ResourceExhausted, "no room for a protected memory");
  base_ = static_cast<char*>(region);
}

ProtectedMemory::~ProtectedMemory() { munmap(base_, bytes_); }

bool ProtectedMemory::holds(const void* data) const {
  const char* at = static_cast<const char*>(data);
  return at >= base_ && at < base_ + bytes_;
}

Tensor ProtectedMemory::place(DType dtype, const Shape& shape) {
  if (!is_plain(dtype)) return Tensor(dtype, shape);
  // Every block is there, also one without elements: its address says whose it is.
  const size_t bytes = rounded(std::max<size_t>(1, static_cast<size_t>(shape.elements()) * dtype_size(dtype)), 64);
  char* data = take(bytes);
  return Tensor(dtype, shape, new Block(data, bytes, std::static_pointer_cast<ProtectedMemory>(shared_from_this())),
                data);
}

char* ProtectedMemory::take(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (auto found = free_.find(bytes); found != free_.end()) {
    char* data = found->second;
    free_.erase(found);
    return data;
  }
  if (end_ + bytes > bytes_) throw error(Code::ResourceExhausted, "the protected memory is full");
  char* data = base_ + end_;
  end_ += bytes;
  if (open_ > 0) protect(PROT_READ | PROT_WRITE);
  return data;
}

void ProtectedMemory::give_back(char* data, size_t bytes) {
  std::lock_guard lock(mutex_);
  free_.emplace(bytes, data);
}

void ProtectedMemory::protect(int how) {
  if (end_ > 0 && mprotect(base_, rounded(end_, 4096), how) != 0) std::abort();
}

void ProtectedMemory::open() {
  std::lock_guard lock(mutex_);
  if (open_++ == 0) protect(PROT_READ | PROT_WRITE);
  for (const Pending& copy : pending_) std::memcpy(copy.to, copy.from, copy.bytes);
  pending_.clear();
}

void ProtectedMemory::close() {
  std::lock_guard lock(mutex_);
  if (--open_ == 0) protect(PROT_NONE);
}

void ProtectedMemory::copy(void* to, const void* from, size_t bytes, Way way) {
  if (bytes == 0) return;
  EXPECT_TRUE(way == Way::ToHost ? !holds(to) : holds(to)) << "the copy goes elsewhere";
  EXPECT_TRUE(way == Way::FromHost ? !holds(from) : holds(from)) << "the copy comes from elsewhere";
  if (way == Way::ToHost) {
    ++to_host_;
    std::lock_guard lock(mutex_);
    pending_.push_back({to, from, bytes});
    return;
  }
  if (way == Way::FromHost) ++from_host_;
  open();
  std::memcpy(to, from, bytes);
  close();
}

void ProtectedMemory::finish() {
  open();
  close();
}

ProtectedDevice::ProtectedDevice(int index, size_t bytes)
    : Device("GPU", index, /*wraps_kernels=*/true),
      pool_(std::make_unique<ThreadPool>(2)),
      memory_(std::make_shared<ProtectedMemory>(short_name(), bytes)) {}

const Kernel* ProtectedDevice::kernel(const NodeView& node, std::span<const DType> inputs,
                                      std::span<const DType> outputs) const {
  return borrowed_kernel(node, inputs, outputs);
}

void ProtectedDevice::launch(ComputeFn compute, KernelContext& context) const {
  struct Window {
    ProtectedMemory& memory;
    explicit Window(ProtectedMemory& m) : memory(m) { memory.open(); }
    ~Window() { memory.close(); }
  } window(*memory_);
  compute(context);
}

}  // namespace weir::testing
