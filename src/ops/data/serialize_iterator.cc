#include "base/errors.h"
#include "ops/data/iterator.h"
#include "tensor/encoded_variant.h"

// Where an iterator stands, as a value that checkpoints hold. It is Weir's own: how many elements were given, and the
// seeds that were drawn. An iterator that goes on from there makes or leaves out as many again.
namespace weir::ops {
namespace {

const std::string kKind = "weir::Iterator";

struct State {
  std::shared_ptr<FunctionRunner> runner;
};
State prepare(PrepareContext& c) { return {c.functions()}; }

void save(KernelContext& c) {
  PassState state = c.resource<IteratorResource>(0).save(control_of(c));
  c.set_output(0, variant_tensor(std::make_shared<const EncodedVariant>(kKind, state.encode())));
}

void restore(KernelContext& c) {
  const auto* element = static_cast<const Variant*>(c.raw_input(1));
  const auto* encoded = element ? dynamic_cast<const EncodedVariant*>(element->get()) : nullptr;
  if (!encoded || encoded->kind() != kKind) {
    throw invalid_argument("what is given is not the state of an iterator that Weir saved{}{}", encoded ? ": " : "",
                           encoded ? encoded->kind() : "");
  }
  c.resource<IteratorResource>(0).restore(PassState::decode(encoded->bytes()), control_of(c), c.state<State>().runner);
}

void infer_restore(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
}

}  // namespace

OpDef serialize_iterator_op() {
  return {.name = "SerializeIterator",
          .inputs = "resource_handle:resource",
          .outputs = "serialized:variant",
          .flags = "stateful",
          .host = "resource_handle, serialized",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<save>, .gives_outputs = true},
          .waits = true,
          .effect = Effect::Other,
          .host_only = true};
}
OpDef deserialize_iterator_op() {
  return {.name = "DeserializeIterator",
          .inputs = "resource_handle:resource; serialized:variant",
          .flags = "stateful",
          .host = "resource_handle, serialized",
          .infer = infer_restore,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<restore>, .prepare = prepared<prepare>},
          .waits = true,
          .effect = Effect::Other,
          .host_only = true};
}

}  // namespace weir::ops
