#include "base/errors.h"
#include "ops/data/iterator.h"

namespace weir::ops {
namespace {

void to_string(KernelContext& c) { c.set_output(0, Tensor(c.resource<IteratorResource>(0).handle())); }

// Iterators that were asked for, which the handle that a run passes on must not outlive.
struct Found {
  std::shared_ptr<ResourceManager> resources;
  ElementSpec wanted;
  std::mutex mutex = {};
  std::map<std::string, ResourcePtr<IteratorResource>, std::less<>> iterators = {};
};
struct State {
  std::unique_ptr<Found> found;
};

State prepare(PrepareContext& c) {
  return {std::make_unique<Found>(c.shared_resources(), ElementSpec{c.attr<std::vector<DType>>("output_types"),
                                                                    c.attr<std::vector<Shape>>("output_shapes")})};
}

void from_string(KernelContext& c) {
  Found& found = *c.state<State>().found;
  const auto& handle = *c.input<std::string>(0);
  std::lock_guard lock(found.mutex);
  const size_t end = handle.find('\n');
  if (end == std::string::npos) throw invalid_argument("Could not parse string_handle as a valid ResourceHandle");
  auto iterator = found.resources->find<IteratorResource>(handle.substr(0, end), handle.substr(end + 1));
  if (!iterator) {
    throw not_found("Resource {}/{}/N10tensorflow4data16IteratorResourceE does not exist.", handle.substr(0, end),
                    handle.substr(end + 1));
  }
  if (!found.wanted.types.empty()) require_compatible(found.wanted, iterator->spec());
  c.set_resource(0, iterator.get());
  found.iterators.insert_or_assign(handle, std::move(iterator));
}

void get_device(KernelContext& c) {
  c.resource<IteratorResource>(0);
  c.set_output(0, Tensor("/job:localhost/replica:0/task:0/device:CPU:0"));
}

OpDef from_row(std::string_view name) {
  return {.name = name,
          .inputs = "string_handle:string",
          .outputs = "resource_handle:resource",
          .attrs = "output_types:list(type)>=0=[]; output_shapes:list(shape)>=0=[]",
          .flags = "stateful",
          .host = "string_handle, resource_handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<from_string>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace

OpDef iterator_to_string_handle_op() {
  return {.name = "IteratorToStringHandle",
          .inputs = "resource_handle:resource",
          .outputs = "string_handle:string",
          .flags = "stateful",
          .host = "resource_handle, string_handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<to_string>, .gives_outputs = true},
          .effect = Effect::Other,
          .host_only = true};
}
OpDef iterator_from_string_handle_op() { return from_row("IteratorFromStringHandle"); }
OpDef iterator_from_string_handle_v2_op() { return from_row("IteratorFromStringHandleV2"); }
OpDef iterator_get_device_op() {
  return {.name = "IteratorGetDevice",
          .inputs = "resource:resource",
          .outputs = "device:string",
          .flags = "stateful",
          .host = "resource, device",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<get_device>, .gives_outputs = true},
          .effect = Effect::Other,
          .host_only = true};
}

}  // namespace weir::ops
