#include "ops/list/run_handle.h"

#include "base/errors.h"
#include "graph/op.h"
#include "ops/state/variable_state.h"

namespace weir::ops {
namespace {

// What keeps an object and its name for as long as somebody holds the handle.
struct Kept {
  ResourcePtr<Resource> resource;
  ResourcePtr<RunHandles> handles;
  std::string name;
  std::string text[2];
  Resource* pointers[2] = {};  // the elements of a resource handle, which nobody reads

  ~Kept() {
    if (handles) handles->remove(name);
  }
};

Tensor handle_tensor(DType dtype, std::unique_ptr<Kept> kept, void* data) {
  Kept* raw = kept.release();
  Buffer* buffer = nullptr;
  try {
    buffer = Buffer::borrow(data, 0, [raw] { delete raw; });
  } catch (...) {
    delete raw;
    throw;
  }
  return Tensor(dtype, Shape{2}, buffer, data);
}

}  // namespace

ResourcePtr<RunHandles> RunHandles::of(const PrepareContext& c) {
  return c.resources().find_or_make<RunHandles>({}, "_run_handles", [] { return make_resource<RunHandles>(); });
}

std::string RunHandles::unique_name(std::string_view prefix) {
  std::lock_guard lock(mutex_);
  return fmt::format("{}_{}", prefix, made_++);
}

void RunHandles::add(const std::string& name, Resource* resource) {
  std::lock_guard lock(mutex_);
  Entry& entry = resources_[name];
  entry.resource = resource;
  ++entry.handles;
}

void RunHandles::remove(const std::string& name) {
  std::lock_guard lock(mutex_);
  auto found = resources_.find(name);
  if (found != resources_.end() && --found->second.handles == 0) resources_.erase(found);
}

ResourcePtr<Resource> RunHandles::find(const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto found = resources_.find(name);
  if (found == resources_.end()) throw not_found("Resource {} does not exist: no run has it", name);
  return ResourcePtr<Resource>(found->second.resource);
}

RunHandlesState prepare_run_handles(PrepareContext& c) { return {RunHandles::of(c)}; }

void give_run_handle(KernelContext& c, const std::string& container, const std::string& name,
                     const ResourcePtr<Resource>& resource) {
  const ArgSpec& output = c.node().op().outputs[0];
  auto kept = std::make_unique<Kept>();
  kept->resource = resource;
  if (output.type == DType::Resource) {
    Resource** pointers = kept->pointers;
    c.set_output(0, handle_tensor(DType::Resource, std::move(kept), pointers));
    c.set_resource(0, resource.get());
    return;
  }
  kept->handles = c.state<RunHandlesState>().handles;
  kept->name = name;
  kept->text[0] = container;
  kept->text[1] = name;
  kept->handles->add(name, resource.get());
  std::string* text = kept->text;
  Tensor handle = handle_tensor(DType::String, std::move(kept), text);
  if (!output.is_ref) {
    c.set_output(0, std::move(handle));
    return;
  }
  // The reference is to a variable of this run that holds the two strings, and that it keeps.
  auto variable = make_resource<VariableState>(name, DType::String, Shape{2});
  variable->assign(std::move(handle));
  auto behind = std::make_unique<Kept>();
  behind->resource = variable;
  std::string* empty = behind->text;
  c.set_output(0, handle_tensor(DType::String, std::move(behind), empty));
  c.set_resource(0, variable.get());
}

ResourcePtr<Resource> run_handle(const KernelContext& c) {
  const ArgSpec& input = c.node().op().inputs[0];
  if (input.type == DType::Resource) return ResourcePtr<Resource>(&c.resource<Resource>(0));
  const Tensor text = input.is_ref ? c.variable(0).read() : c.input_view(0);
  if (text.dtype() != DType::String || text.elements() != 2) {
    throw invalid_argument("Tensor array handle must be 2-element vector, but had shape: {}", text.shape().str());
  }
  return c.state<RunHandlesState>().handles->find(text.data<std::string>()[1]);
}

}  // namespace weir::ops
