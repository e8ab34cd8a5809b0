#include "ops/kernel.h"

#include <cxxabi.h>

#include <cstdlib>

#include "base/errors.h"
#include "base/nodes_elsewhere.h"
#include "ops/array/strided_copy.h"
#include "ops/element_mover.h"
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

NodeView::NodeView(const Op& op, const AttrMap& attrs, std::string_view name) : op_(&op), attrs_(&attrs), name_(name) {
  const AttrValue* locking = attrs.find("use_locking");
  if (locking && std::holds_alternative<bool>(*locking)) use_locking_ = std::get<bool>(*locking);
}

DType NodeView::type(std::string_view name) const { return attrs_->get<DType>(name); }

namespace {

SessionResources& require_session(SessionResources* resources) {
  if (!resources) throw error(Code::Internal, "this operation runs in a session only");
  return *resources;
}

}  // namespace

// Those that keep the state of nodes; the link to them lives as long as the session.
SessionResources& PrepareContext::session_resources() const {
  SessionResources& own = require_session(resources_);
  const auto elsewhere = own.of_nodes.find<NodesElsewhere>({}, NodesElsewhere::kName);
  return elsewhere ? elsewhere->nodes() : own;
}
ResourceManager& PrepareContext::resources() const { return *require_session(resources_).named; }
std::shared_ptr<ResourceManager> PrepareContext::shared_resources() const { return require_session(resources_).named; }
std::shared_ptr<FunctionRunner> PrepareContext::functions() const {
  std::shared_ptr<FunctionRunner> functions = require_session(resources_).functions;
  if (!functions) throw error(Code::Internal, "this operation runs in a session only");
  return functions;
}

// TensorFlow's rules for names.
std::string PrepareContext::resource_container() const {
  const auto& container = attr<std::string>("container");
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  bool valid = container.empty() || letter(container[0]) || container[0] == '.';
  for (char c : container) valid = valid && (letter(c) || c == '-' || c == '.' || c == '/');
  if (!valid) throw invalid_argument("container contains invalid characters: {}", container);
  return container;
}

std::string PrepareContext::resource_name() const {
  const auto& shared_name = attr<std::string>("shared_name");
  if (shared_name.starts_with("_")) throw invalid_argument("shared_name cannot start with '_': {}", shared_name);
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
  if (v.owner && !VariableState::is_live(*v.owner)) {
    v.owner->retain();
    return Tensor(v.dtype, *v.shape, v.owner, v.data);
  }
  if (ops::ElementMover* mover = ops::ElementMover::current(); mover && mover->holds(v.data)) {
    Tensor copy = mover->place(v.dtype, *v.shape);
    ops::copy_elements(v.dtype, copy.mutable_raw(), v.data, copy.elements(), pool_);
    return copy;
  }
  Tensor copy(v.dtype, *v.shape);
  copy_elements(v.dtype, v.data, copy.mutable_raw(), copy.elements());
  return copy;
}

Tensor KernelContext::input_view(int index) const {
  const Value& v = in(index);
  if (!v.owner || !v.shape) return input_tensor(index);
  v.owner->retain();
  return Tensor(v.dtype, *v.shape, v.owner, v.data);
}

VariableState& KernelContext::variable(int index) const { return resource<VariableState>(index); }

void KernelContext::fail_without_resource(int index) {
  throw invalid_argument("input {} refers to no resource", index);
}

void KernelContext::fail_other_resource(const Resource& resource, const std::type_info& wanted) {
  throw invalid_argument("Trying to access resource using the wrong type. Expected {} got {}: it is {}",
                         kind_name(typeid(resource)), kind_name(wanted), resource.describe());
}

}  // namespace weir
