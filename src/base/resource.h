#pragma once

#include <atomic>
#include <string>
#include <utility>

namespace weir {

// State that outlives runs: variables, queues, readers, tables, generators of random numbers. Graphs refer to it
// through reference or handle outputs; ResourceManager keeps it by container and name. Counted by reference: whoever
// holds one (the manager, a frame of a plan, an operation that is under way) may go on using it after it was taken out
// of the manager.
class Resource {
 public:
  Resource() = default;
  virtual ~Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  // For messages: "variable 'w'", "queue 'input'".
  virtual std::string describe() const = 0;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> references_{0};
};

// One reference to a resource.
template <class R>
class ResourcePtr {
 public:
  ResourcePtr() = default;
  explicit ResourcePtr(R* resource) : resource_(resource) {
    if (resource_) resource_->retain();
  }
  ResourcePtr(const ResourcePtr& other) : ResourcePtr(other.resource_) {}
  ResourcePtr(ResourcePtr&& other) noexcept : resource_(std::exchange(other.resource_, nullptr)) {}
  template <class D>
  ResourcePtr(const ResourcePtr<D>& other) : ResourcePtr(other.get()) {}  // NOLINT: as pointers convert
  ~ResourcePtr() {
    if (resource_) resource_->release();
  }
  ResourcePtr& operator=(ResourcePtr other) noexcept {
    std::swap(resource_, other.resource_);
    return *this;
  }

  R* get() const { return resource_; }
  R& operator*() const { return *resource_; }
  R* operator->() const { return resource_; }
  explicit operator bool() const { return resource_ != nullptr; }

 private:
  R* resource_ = nullptr;
};

template <class R, class... Args>
ResourcePtr<R> make_resource(Args&&... args) {
  return ResourcePtr<R>(new R(std::forward<Args>(args)...));
}

}  // namespace weir
