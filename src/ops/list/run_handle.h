#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "ops/kernel.h"

namespace weir::ops {

// What belongs to a run and is referred to by a handle: arrays and stacks. TensorFlow's handles have three forms. A
// resource refers to the object itself. The older ones are two strings, as a value or behind a reference, and name it:
// this table knows the names of a session.
class RunHandles final : public Resource {
 public:
  std::string describe() const override { return "the handles of runs"; }
  static ResourcePtr<RunHandles> of(const PrepareContext& c);

  std::string unique_name(std::string_view prefix);
  // Several handles may name one resource: it has its name until the last of them is removed.
  void add(const std::string& name, Resource* resource);
  void remove(const std::string& name);
  // Throws NotFound for a name that there is not, or not any more.
  ResourcePtr<Resource> find(const std::string& name) const;

 private:
  mutable std::mutex mutex_;
  int64_t made_ = 0;
  struct Entry {
    Resource* resource = nullptr;
    int handles = 0;
  };
  std::unordered_map<std::string, Entry> resources_;
};

// The state of kernels that make or use such handles.
struct RunHandlesState {
  ResourcePtr<RunHandles> handles;
};
RunHandlesState prepare_run_handles(PrepareContext& c);

// Gives output 0 a handle of its form to `resource`, which lives until nobody in the run can use it any more.
void give_run_handle(KernelContext& c, const std::string& container, const std::string& name,
                     const ResourcePtr<Resource>& resource);
// What input 0 refers to. Throws InvalidArgument or NotFound when it is nothing.
ResourcePtr<Resource> run_handle(const KernelContext& c);

}  // namespace weir::ops
