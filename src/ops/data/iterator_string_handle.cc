#include "base/errors.h"
#include "ops/data/iterator.h"
#include "ops/data/multi_device_iterator.h"

namespace weir::ops {
namespace {

struct State {
  std::shared_ptr<ResourceManager> resources;
  ElementSpec wanted;
};

State prepare(PrepareContext& c) {
  return {c.shared_resources(),
          {c.attr<std::vector<DType>>("output_types"), c.attr<std::vector<Shape>>("output_shapes")}};
}

template <class R>
void to_string(KernelContext& c) {
  c.set_output(0, Tensor(c.resource<R>(0).handle()));
}

// The handle that is given keeps the iterator for as long as the run can use it. `kind` is what TensorFlow calls it.
template <class R, const char* kind>
void from_string(KernelContext& c) {
  const State& state = c.state<State>();
  const auto& handle = *c.input<std::string>(0);
  const size_t end = handle.find('\n');
  if (end == std::string::npos) throw invalid_argument("Could not parse string_handle as a valid ResourceHandle");
  const ResourcePtr<R> iterator = state.resources->find<R>(handle.substr(0, end), handle.substr(end + 1));
  if (!iterator) {
    throw not_found("Resource {}/{}/{} does not exist.", handle.substr(0, end), handle.substr(end + 1), kind);
  }
  if (!state.wanted.types.empty()) require_compatible(state.wanted, iterator->spec());
  c.set_output(0, resource_tensor(*iterator));
  c.set_resource(0, iterator.get());
}

constexpr char kIterator[] = "N10tensorflow4data16IteratorResourceE";
constexpr char kMultiDevice[] = "N10tensorflow4data12_GLOBAL__N_119MultiDeviceIteratorE";

void get_device(KernelContext& c) {
  c.resource<IteratorResource>(0);
  c.set_output(0, Tensor("/job:localhost/replica:0/task:0/device:CPU:0"));
}

OpDef to_row(std::string_view name, std::string_view inputs, std::string_view host,
             ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "string_handle:string",
          .flags = "stateful",
          .host = host,
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = select, .gives_outputs = true},
          .effect = Effect::Other,
          .host_only = true};
}

OpDef from_row(std::string_view name, std::string_view outputs, std::string_view host,
               ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "string_handle:string",
          .outputs = outputs,
          .attrs = "output_types:list(type)>=0=[]; output_shapes:list(shape)>=0=[]",
          .flags = "stateful",
          .host = host,
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>, .gives_outputs = true},
          .host_only = true};
}

constexpr std::string_view kHandleOutput = "resource_handle:resource", kHandleHost = "string_handle, resource_handle",
                           kMultiOutput = "multi_device_iterator:resource",
                           kMultiHost = "string_handle, multi_device_iterator";

}  // namespace

OpDef iterator_to_string_handle_op() {
  return to_row("IteratorToStringHandle", kHandleOutput, kHandleHost, kernel_any<to_string<IteratorResource>>);
}
OpDef iterator_from_string_handle_op() {
  return from_row("IteratorFromStringHandle", kHandleOutput, kHandleHost,
                  kernel_any<from_string<IteratorResource, kIterator>>);
}
OpDef iterator_from_string_handle_v2_op() {
  return from_row("IteratorFromStringHandleV2", kHandleOutput, kHandleHost,
                  kernel_any<from_string<IteratorResource, kIterator>>);
}
OpDef multi_device_iterator_to_string_handle_op() {
  return to_row("MultiDeviceIteratorToStringHandle", kMultiOutput, kMultiHost,
                kernel_any<to_string<MultiDeviceIterator>>);
}
OpDef multi_device_iterator_from_string_handle_op() {
  return from_row("MultiDeviceIteratorFromStringHandle", kMultiOutput, kMultiHost,
                  kernel_any<from_string<MultiDeviceIterator, kMultiDevice>>);
}
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
