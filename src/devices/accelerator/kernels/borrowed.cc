#include <algorithm>
#include <iterator>
#include <vector>

#include "devices/accelerator/table.h"
#include "graph/op.h"

// Kernels of the CPU that serve accelerators as they stand: they look at shapes, references and what lies on the host,
// and where they touch elements they only move them about (ops/element_mover.h).
namespace weir::accelerator {
namespace {

constexpr std::string_view kBorrowed[] = {
    // Shapes and sizes, which stay on the host.
    "Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs", "ConcatOffset", "InvertPermutation", "VariableShape",
    // Variables: the value is the device's memory.
    "Assign", "AssignVariableOp",
    // Elements that are only moved.
    "BatchToSpaceND", "BroadcastTo", "Concat", "ConcatV2", "DepthToSpace", "Fill", "IdentityN", "OnesLike", "Pack",
    "Pad", "PadV2", "ReverseV2", "Roll", "Slice", "SpaceToBatchND", "SpaceToDepth", "Split", "SplitV", "StridedSlice",
    "StridedSliceGrad", "Tile", "Transpose", "Unpack", "ZerosLike",
    // Lists: objects of the host that hold tensors of the device.
    "EmptyTensorList", "TensorListConcat", "TensorListConcatV2", "TensorListElementShape", "TensorListFromTensor",
    "TensorListGather", "TensorListGetItem", "TensorListLength", "TensorListPopBack", "TensorListPushBack",
    "TensorListReserve", "TensorListResize", "TensorListScatter", "TensorListScatterV2",
    "TensorListScatterIntoExistingList", "TensorListSetItem", "TensorListSplit", "TensorListStack"};

bool needs_no_elements(const OpDef& def) {
  switch (def.role) {
    case Role::Placeholder:
    case Role::Constant:
    case Role::Variable:
    case Role::Read:
    case Role::Identity:
    case Role::Copy:
    case Role::Nothing:
    case Role::Branch:
    case Role::Loop:
      return true;
    default:
      return def.alias >= 0;
  }
}

}  // namespace

std::span<const KernelRow> borrowed_kernels() {
  static const std::vector<KernelRow> rows = [] {
    std::vector<KernelRow> all;
    for (const OpDef* def : all_op_defs()) {
      const bool listed = std::find(std::begin(kBorrowed), std::end(kBorrowed), def->name) != std::end(kBorrowed);
      if (listed || (needs_no_elements(*def) && !def->host_only)) all.push_back({def->name, def->cpu, nullptr});
    }
    return all;
  }();
  return rows;
}

}  // namespace weir::accelerator
