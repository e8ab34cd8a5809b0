#include "ops/data/optional.h"

#include "base/errors.h"
#include "ops/control/output_shapes.h"
#include "ops/data/iterator.h"

namespace weir::ops {
namespace {

class Optional final : public VariantObject {
 public:
  Optional(bool has_value, Element element) : has_value_(has_value), element_(std::move(element)) {}
  bool has_value() const { return has_value_; }
  const Element& element() const { return element_; }

 private:
  bool has_value_;
  Element element_;
};

const Optional& optional_input(const KernelContext& c) {
  const auto* element = static_cast<const Variant*>(c.raw_input(0));
  const auto* optional = element ? dynamic_cast<const Optional*>(element->get()) : nullptr;
  if (!optional) throw invalid_argument("The input is no Optional variant.");
  return *optional;
}

void from_value(KernelContext& c) {
  Element element;
  for (int i = 0; i < c.inputs(); ++i) element.push_back(c.input_tensor(i));
  c.set_output(0, optional_tensor(true, std::move(element)));
}

void none(KernelContext& c) { c.set_output(0, optional_tensor(false, {})); }

void has_value(KernelContext& c) { *c.output<bool>() = optional_input(c).has_value(); }

void get_value(KernelContext& c) {
  const Optional& optional = optional_input(c);
  if (!optional.has_value()) throw invalid_argument("The given optional does not have a value.");
  Element element = optional.element();
  give_element(c, std::move(element));
}

void infer_get_value(InferContext& c) {
  c.require_scalar(0);
  infer_declared_shapes(c);
}

}  // namespace

Tensor optional_tensor(bool has_value, Element element) {
  return variant_tensor(std::make_shared<const Optional>(has_value, std::move(element)));
}

OpDef optional_from_value_op() {
  return {.name = "OptionalFromValue",
          .inputs = "components:Toutput_types",
          .outputs = "optional:variant",
          .attrs = "Toutput_types:list(type)>=1",
          .host = "components, optional",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<from_value>, .gives_outputs = true},
          .host_only = true};
}
OpDef optional_none_op() {
  return {.name = "OptionalNone",
          .outputs = "optional:variant",
          .host = "optional",
          .infer = infer_dataset<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<none>, .gives_outputs = true},
          .host_only = true};
}
OpDef optional_has_value_op() {
  return {.name = "OptionalHasValue",
          .inputs = "optional:variant",
          .outputs = "has_value:bool",
          .host = "optional, has_value",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<has_value>},
          .host_only = true};
}
OpDef optional_get_value_op() {
  return {.name = "OptionalGetValue",
          .inputs = "optional:variant",
          .outputs = "components:output_types",
          .attrs = kSpecAttrs,
          .host = "optional, components",
          .infer = infer_get_value,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<get_value>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
