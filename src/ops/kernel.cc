#include "ops/kernel.h"

#include <cxxabi.h>

#include <cstdlib>

#include "base/errors.h"
#include "ops/state/variable_state.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// "weir::VariableState": for messages.
std::string kind_name(const std::type_info& kind) {
  int status = 0;
  char* readable = abi::__cxa_demangle(kind.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? readable : kind.name();
  std::free(readable);
  return name;
}

}  // namespace

void RunControl::end() const {
  if (session && session->stop_requested()) throw Error(Code::Cancelled, "the session was closed");
  if (program && program->stop_requested()) throw Error(Code::Cancelled, "the run was cancelled");
  if (has_deadline() && std::chrono::steady_clock::now() >= deadline) {
    throw Error(Code::DeadlineExceeded, "the run took longer than its timeout allows");
  }
  throw Error(Code::Cancelled, "another step of the run has failed");
}

ResourceManager& PrepareContext::resources() const {
  if (!resources_) throw error(Code::Internal, "this operation runs in a session only");
  return *resources_;
}

std::string PrepareContext::resource_container() const { return attr<std::string>("container"); }

std::string PrepareContext::resource_name() const {
  const auto& shared_name = attr<std::string>("shared_name");
  return shared_name.empty() ? std::string(node_.name()) : shared_name;
}

void KernelContext::set_output(int index, Tensor value) {
  Value& v = out(index);
  if (v.shape && v.shape != &v.own_shape) {
    // The plan laid memory out for this shape.
    if (*v.shape != value.shape()) {
      fail(fmt::format("a value of shape {} came where the graph says {}", value.shape().str(), v.shape->str()));
    }
  } else {
    v.own_shape = value.shape();
    v.shape = &v.own_shape;
  }
  if (v.data && !v.owner) {  // a place in the arena: fill it
    copy_elements(v.dtype, value.raw(), v.data, value.elements());
    return;
  }
  if (v.owner) v.owner->release();
  v.dtype = value.dtype();
  v.data = const_cast<void*>(value.raw());
  v.owner = value.buffer();
  if (v.owner) v.owner->retain();
}

Tensor KernelContext::input_tensor(int index) const {
  const Value& v = in(index);
  if (!v.data || !v.shape) throw invalid_argument("input {} has no value that could be kept: it is a handle", index);
  if (v.owner) {
    v.owner->retain();
    return Tensor(v.dtype, *v.shape, v.owner, v.data);
  }
  Tensor copy(v.dtype, *v.shape);
  copy_elements(v.dtype, v.data, copy.mutable_raw(), copy.elements());
  return copy;
}

VariableState& KernelContext::variable(int index) const { return resource<VariableState>(index); }

void KernelContext::fail_without_resource(int index) {
  throw invalid_argument("input {} refers to no resource", index);
}

void KernelContext::fail_other_resource(const Resource& resource, const std::type_info& wanted) {
  throw invalid_argument("Trying to access resource using the wrong type: {} is no {}", resource.describe(),
                         kind_name(wanted));
}

}  // namespace weir
