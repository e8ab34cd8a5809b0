#include <map>

#include "passes/place.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// Whether the input lies in the host's memory although its reader may stand elsewhere.
bool read_on_host(const IrNode& node, size_t input) {
  if (node.flow) return !node.flow->is_loop && input == 0;  // the predicate; what bodies look up themselves is left out
  return node.op->input_arg(input, node.attrs).on_host;
}

class Inserter {
 public:
  Inserter(Ir& ir, const DeviceSet& devices, int fetch_to) : ir_(ir), devices_(devices), fetch_to_(fetch_to) {}

  void run() {
    const int nodes = ir_.size();
    for (int i = 0; i < nodes; ++i) {
      if (ir_[i].dead) continue;
      const bool far = devices_[ir_[i].device].memory() != nullptr;
      for (size_t n = 0; n < ir_[i].inputs.size(); ++n) {
        const int memory = far && read_on_host(ir_[i], n) ? DeviceSet::kHost : ir_[i].device;
        const IrEdge there = in_memory(ir_[i].inputs[n], ir_[i].device, memory);
        ir_[i].inputs[n] = there;
      }
    }
    for (IrEdge& fetch : ir_.fetches) fetch = in_memory(fetch, fetch_to_, fetch_to_);
  }

 private:
  // The value in the memory of the device `memory`, for a reader on `device`: itself, or its one copy there.
  IrEdge in_memory(const IrEdge& edge, int device, int memory) {
    const IrNode& producer = ir_[edge.node];
    const auto output = static_cast<size_t>(edge.output);
    // Text stays with the host. So do lists, but not what they hold: where the host cannot read that they are copied.
    const DType type = producer.types[output];
    if (!is_plain(type) && (type != DType::Variant || !is_far(edge, memory))) return edge;
    const bool constant = producer.values[output].valid() && !producer.uploaded;
    if (constant ? on_host(devices_[memory].memory()) : !crosses(edge, memory)) return edge;
    // Devices that share their memory share the copy.
    int owner = memory;
    for (int i = memory; i-- > 0;) {
      if (devices_[i].shares_memory_with(devices_[memory])) owner = i;
    }
    auto [known, fresh] = copies_.try_emplace({edge, owner}, -1);
    if (fresh) known->second = ir_.add(constant ? make_upload(edge, owner) : make_copy(edge, device, owner));
    return {known->second, 0};
  }

  // Whether the host cannot read the one memory or the other.
  bool is_far(const IrEdge& edge, int memory) const {
    return !on_host(devices_[memory].memory()) || !on_host(devices_[memory_of(ir_, edge, devices_)].memory());
  }

  bool crosses(const IrEdge& edge, int memory) const {
    const IrNode& producer = ir_[edge.node];
    if (devices_[memory_of(ir_, edge, devices_)].shares_memory_with(devices_[memory])) return false;
    const Node& origin = *producer.origin;
    const bool is_ref =
        producer.op == origin.op && !producer.is_feed() && origin.output_refs[static_cast<size_t>(edge.output)];
    return !is_ref;
  }

  IrNode make_upload(const IrEdge& edge, int owner) const {
    const IrNode& producer = ir_[edge.node];
    const auto output = static_cast<size_t>(edge.output);
    IrNode constant;
    constant.op = find_op("Identity");
    constant.attrs.set("T", producer.types[output]);
    constant.origin = producer.origin;
    constant.name = producer.name + "/_upload" + devices_[owner].short_name().substr(7);
    constant.types = {producer.types[output]};
    constant.shapes = {producer.values[output].shape()};
    constant.values = {producer.values[output]};
    constant.device = owner;
    constant.uploaded = true;
    constant.varies = producer.varies;
    if (producer.varies) constant.recipe = {edge};
    return constant;
  }

  IrNode make_copy(const IrEdge& edge, int device, int owner) const {
    const IrNode& producer = ir_[edge.node];
    const auto output = static_cast<size_t>(edge.output);
    IrNode copy;
    copy.op = find_op("_Copy");
    copy.origin = producer.origin;
    copy.name = producer.name + (edge.output ? ":" + std::to_string(edge.output) : "") + "/_copy" +
                devices_[owner].short_name().substr(7);
    copy.attrs.set("T", producer.types[output]);
    copy.inputs = {edge};
    copy.types = {producer.types[output]};
    copy.shapes = {producer.shapes[output]};
    copy.varies = producer.varies;
    // Whoever computes a value sends it on at once; what is fed is there already, and is fetched by who needs it.
    copy.device = producer.is_feed() ? device : producer.device;
    copy.to = owner;
    return copy;
  }

  Ir& ir_;
  const DeviceSet& devices_;
  const int fetch_to_;
  std::map<std::pair<IrEdge, int>, int> copies_;
};

}  // namespace

int memory_of(const Ir& ir, const IrEdge& value, const DeviceSet& devices) {
  const IrNode& node = ir[value.node];
  const int memory = node.memory();
  if (node.is_feed() || node.flow || node.to >= 0 || !devices[memory].memory()) return memory;
  return node.op->output_arg(static_cast<size_t>(value.output), node.attrs).on_host ? DeviceSet::kHost : memory;
}

void insert_copies(Ir& ir, const DeviceSet& devices, int fetch_to) {
  if (devices.size() > 1) Inserter(ir, devices, fetch_to).run();
}

}  // namespace weir
