#include "ops/function_runner.h"

namespace weir {
namespace {

struct Kept {
  Resource* pointer;  // the element
  ResourcePtr<Resource> resource;
};

}  // namespace

Tensor resource_tensor(Resource& resource) {
  auto kept = std::make_shared<Kept>(&resource, ResourcePtr<Resource>(&resource));
  void* data = &kept->pointer;
  return Tensor(DType::Resource, Shape{}, Buffer::borrow(data, sizeof(Resource*), [kept] {}), data);
}

}  // namespace weir
