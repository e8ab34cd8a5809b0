#include "ops/list/tensor_list.h"

#include <atomic>

#include "base/errors.h"

namespace weir::ops {

TensorList::~TensorList() {
  // One after the other: a long list would exhaust the stack if each destroyed the one below it.
  std::shared_ptr<const TensorList> below = std::move(below_);
  while (below && below.use_count() == 1) {
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever held it too has done so before
    below = std::move(below->below_);
  }
}

std::shared_ptr<const TensorList> list_input(const KernelContext& c, int index) {
  const auto* element = c.input<Variant>(index);
  auto list = element ? std::dynamic_pointer_cast<const TensorList>(*element) : nullptr;
  if (!list) throw invalid_argument("input {} is no list of tensors", index);
  if (const AttrValue* dtype = c.node().attrs().find("element_dtype");
      dtype && std::get<DType>(*dtype) != list->dtype()) {
    throw invalid_argument("a list of {} is given where one of {} is wanted", dtype_name(list->dtype()),
                           dtype_name(std::get<DType>(*dtype)));
  }
  return list;
}

void set_list_output(KernelContext& c, int index, std::shared_ptr<const TensorList> list) {
  c.set_output(index, variant_tensor(std::move(list)));
}

Shape element_shape_input(InferContext& c, int index) {
  if (!c.input(index).has_rank() || c.input(index).rank() == 0) return Shape::unknown();
  return c.value_as_shape(index);
}

}  // namespace weir::ops
