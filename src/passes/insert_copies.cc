#include <map>

#include "passes/place.h"
#include "tensor/elements.h"

namespace weir {
namespace {

class Inserter {
 public:
  Inserter(Ir& ir, const DeviceSet& devices, int home) : ir_(ir), devices_(devices), home_(home) {}

  void run() {
    const int nodes = ir_.size();
    for (int i = 0; i < nodes; ++i) {
      if (ir_[i].dead) continue;
      for (size_t n = 0; n < ir_[i].inputs.size(); ++n) {
        const IrEdge there = on_device(ir_[i].inputs[n], ir_[i].device);
        ir_[i].inputs[n] = there;
      }
    }
    for (IrEdge& fetch : ir_.fetches) fetch = on_device(fetch, home_);
  }

 private:
  // The value in memory that the device reads: itself, or its one copy there.
  IrEdge on_device(const IrEdge& edge, int device) {
    const IrNode& producer = ir_[edge.node];
    if (!crosses(producer, edge, device)) return edge;
    // Devices that share their memory share the copy.
    int owner = device;
    for (int i = device; i-- > 0;) {
      if (devices_[i].shares_memory_with(devices_[device])) owner = i;
    }
    auto [known, fresh] = copies_.try_emplace({edge, owner}, -1);
    if (fresh) known->second = ir_.add(make_copy(producer, edge, device, owner));
    return {known->second, 0};
  }

  bool crosses(const IrNode& producer, const IrEdge& edge, int device) const {
    const auto output = static_cast<size_t>(edge.output);
    if (devices_[producer.memory()].shares_memory_with(devices_[device])) return false;
    if (producer.values[output].valid() || !is_plain(producer.types[output])) return false;
    const Node& origin = *producer.origin;
    const bool is_ref = producer.op == origin.op && !producer.is_feed() && origin.output_refs[output];
    return !is_ref;
  }

  IrNode make_copy(const IrNode& producer, const IrEdge& edge, int device, int owner) const {
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
  const int home_;
  std::map<std::pair<IrEdge, int>, int> copies_;
};

}  // namespace

void insert_copies(Ir& ir, const DeviceSet& devices, int home) {
  if (devices.size() > 1) Inserter(ir, devices, home).run();
}

}  // namespace weir
