#pragma once

#include <mutex>
#include <string>
#include <unordered_set>

#include "devices/device.h"
#include "passes/ir.h"

namespace weir {

// Prints where nodes went, each once in a session, as TensorFlow does: "MatMul: (MatMul): /job:.../device:GPU:0".
// Thread-safe.
class PlacementLog {
 public:
  // Begins with the devices themselves.
  explicit PlacementLog(const DeviceSet& devices);
  void print(const Ir& ir, const DeviceSet& devices);

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> printed_;
};

struct PlaceOptions {
  bool allow_soft_placement = false;  // what cannot go where the program says goes where it can
  bool prefers_host = false;          // what the program leaves open goes to the CPU, though a GPU could do it
  int home = 0;                       // where feeds are
  PlacementLog* log = nullptr;
};

// Gives every node its device: the one that the program names; a variable and whatever refers to it together, and so
// for nodes that stand beside each other; the rest goes to the first GPU that has a kernel for it, else to CPU 0. Costs
// nothing when there is one device and the program names none. Throws InvalidArgument, naming the node and what there
// is to choose from.
void place(Ir& ir, const DeviceSet& devices, const PlaceOptions& options);

// Whether the device has a kernel for the node as it is.
bool has_kernel(const Device& device, const Ir& ir, const IrNode& node);
// The same for the device that the node stands on: what a rewrite asks before it makes an operation of several.
bool has_kernel(const PassContext& context, const Ir& ir, const IrNode& node);

// The device whose memory a value is in: its node's, or the host's when the row says so (OpDef::host).
int memory_of(const Ir& ir, const IrEdge& value, const DeviceSet& devices);

// Puts a `_Copy` wherever a value is read, or fetched to the memory of device `fetch_to`, in memory other than its own:
// one for each value and memory, however many readers there are. Constants that are read in a memory which is not the
// host's get a node that stands for them there. Comes last, after the rewrites.
void insert_copies(Ir& ir, const DeviceSet& devices, int fetch_to);

}  // namespace weir
