#include "ops/data/iterator.h"

#include <fmt/format.h>

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<IteratorResource> iterator;
};

ElementSpec declared(const PrepareContext& c) {
  return {c.attr<std::vector<DType>>("output_types"), c.attr<std::vector<Shape>>("output_shapes")};
}

ResourcePtr<IteratorResource> make(const PrepareContext& c, const std::string& name) {
  return make_resource<IteratorResource>(c.attr<std::string>("container"), name, declared(c));
}

// Without a shared name an iterator is its session's own, as in TensorFlow: graphs whose nodes have the same names meet
// in the sessions of a server. It has a name nevertheless, which its string handle tells.
State prepare(PrepareContext& c) {
  if (!c.attr<std::string>("shared_name").empty()) {
    return {c.named_resource<IteratorResource>([&](const std::string& name) { return make(c, name); })};
  }
  return {c.node_resource<IteratorResource>([&] {
    const auto& container = c.attr<std::string>("container");
    for (int number = 0;; ++number) {
      const std::string name = fmt::format("_{}_{}", number, c.node().name());
      bool made = false;
      auto iterator = c.resources().find_or_make<IteratorResource>(container, name, [&] {
        made = true;
        return make(c, name);
      });
      if (made) return iterator;
    }
  })};
}

// Its data set is what a function of the graph gives when an element is asked for first.
State prepare_one_shot(PrepareContext& c) {
  State state = prepare(c);
  state.iterator->initialize_once([runner = c.functions(), name = c.attr<FunctionName>("dataset_factory").name](
                                      IteratorResource& iterator, const RunControl& control) {
    Element result(1);
    runner->pipeline_functions()->find(name).call({}, result, control);
    iterator.initialize(dataset_of(result, "OneShotIterator"), runner);
  });
  return state;
}

void cpu(KernelContext& c) { c.set_resource(0, c.state<State>().iterator.get()); }

OpDef row(std::string_view name, std::string_view attrs, KernelState (*prepare_state)(PrepareContext&)) {
  return {.name = name,
          .outputs = "handle:resource",
          .attrs = attrs,
          .flags = "stateful",
          .host = "handle",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepare_state},
          .host_only = true};
}

constexpr std::string_view kAttrs =
    "shared_name:string; container:string; output_types:list(type)>=1; output_shapes:list(shape)>=1";

}  // namespace

OpDef iterator_op() { return row("Iterator", kAttrs, prepared<prepare>); }
OpDef iterator_v2_op() { return row("IteratorV2", kAttrs, prepared<prepare>); }
OpDef one_shot_iterator_op() {
  return row("OneShotIterator",
             "dataset_factory:func; output_types:list(type)>=1; output_shapes:list(shape)>=1; container:string=''; "
             "shared_name:string=''",
             prepared<prepare_one_shot>);
}

}  // namespace weir::ops
