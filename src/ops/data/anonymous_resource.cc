#include <fmt/format.h>

#include <atomic>

#include "ops/data/data_resources.h"
#include "ops/data/iterator.h"
#include "ops/data/multi_device_iterator.h"

// Resources without names: every run of the node makes another. Whoever can still use one in the run keeps it, and so
// does the session, until its deleter goes or is used; without a deleter until the session ends.
namespace weir::ops {
namespace {

// Takes a resource out of its session when nobody holds this any more.
class Deleter final : public VariantObject {
 public:
  Deleter(std::shared_ptr<ResourceManager> manager, ResourcePtr<Resource> resource)
      : manager_(std::move(manager)), resource_(std::move(resource)) {}
  ~Deleter() override { manager_->remove(*resource_); }

 private:
  std::shared_ptr<ResourceManager> manager_;
  ResourcePtr<Resource> resource_;
};

struct State {
  std::shared_ptr<ResourceManager> manager;
};
State prepare(PrepareContext& c) { return {c.shared_resources()}; }

// A name of its own, also among the sessions of a server, which share a manager.
std::string next_name() {
  static std::atomic<int64_t> made{0};
  return fmt::format("_anonymous_{}", made++);
}

template <class R, ResourcePtr<R> (*make)(KernelContext&, const std::string& name)>
void give(KernelContext& c) {
  const std::string name = next_name();
  const auto& manager = c.state<State>().manager;
  ResourcePtr<R> made = make(c, name);
  manager->find_or_make<R>({}, name, [&] { return made; });
  c.set_output(0, resource_tensor(*made));
  c.set_resource(0, made.get());
  if (c.outputs() > 1) c.set_output(1, variant_tensor(std::make_shared<const Deleter>(manager, made)));
}

ResourcePtr<IteratorResource> make_iterator(KernelContext& c, const std::string& name) {
  return make_resource<IteratorResource>(std::string(), name, declared_spec(c));
}
ResourcePtr<MultiDeviceIterator> make_multi_device(KernelContext& c, const std::string& name) {
  return make_resource<MultiDeviceIterator>(std::string(), name, declared_spec(c),
                                            c.node().attr<std::vector<std::string>>("devices").size());
}
ResourcePtr<MemoryCache> make_cache(KernelContext&, const std::string&) { return make_resource<MemoryCache>(); }
ResourcePtr<RandomSeedGenerator> make_generator(KernelContext& c, const std::string&) {
  return make_resource<RandomSeedGenerator>(seed_inputs(c, 0));
}

template <class R>
void remove(KernelContext& c) {
  c.state<State>().manager->remove(c.resource<R>(0));
}

void infer_delete(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.require_scalar(i);
}

OpDef make_row(std::string_view name, std::string_view attrs, ComputeFn (*select)(const NodeView&), bool has_deleter) {
  return {.name = name,
          .outputs = has_deleter ? "handle:resource; deleter:variant" : "handle:resource",
          .attrs = attrs,
          .flags = "stateful",
          .host = has_deleter ? "handle, deleter" : "handle",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>, .gives_outputs = true},
          .host_only = true};
}

OpDef delete_row(std::string_view name, ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "handle:resource; deleter:variant",
          .flags = "stateful",
          .host = "handle, deleter",
          .infer = infer_delete,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>},
          .effect = Effect::Other,
          .host_only = true};
}

}  // namespace

OpDef anonymous_iterator_op() {
  return make_row("AnonymousIterator", kSpecAttrs, kernel_any<give<IteratorResource, make_iterator>>, false);
}
OpDef anonymous_iterator_v2_op() {
  return make_row("AnonymousIteratorV2", kSpecAttrs, kernel_any<give<IteratorResource, make_iterator>>, true);
}
OpDef anonymous_multi_device_iterator_op() {
  return make_row("AnonymousMultiDeviceIterator",
                  "devices:list(string)>=1; output_types:list(type)>=1; output_shapes:list(shape)>=1",
                  kernel_any<give<MultiDeviceIterator, make_multi_device>>, true);
}
OpDef anonymous_memory_cache_op() {
  return make_row("AnonymousMemoryCache", "", kernel_any<give<MemoryCache, make_cache>>, true);
}
OpDef anonymous_random_seed_generator_op() {
  OpDef row = make_row("AnonymousRandomSeedGenerator", "", kernel_any<give<RandomSeedGenerator, make_generator>>, true);
  row.inputs = "seed:int64; seed2:int64";
  row.host = "seed, seed2, handle, deleter";
  row.infer = infer_dataset<0, 1>;
  return row;
}
OpDef delete_iterator_op() { return delete_row("DeleteIterator", kernel_any<remove<IteratorResource>>); }
OpDef delete_memory_cache_op() { return delete_row("DeleteMemoryCache", kernel_any<remove<MemoryCache>>); }
OpDef delete_random_seed_generator_op() {
  return delete_row("DeleteRandomSeedGenerator", kernel_any<remove<RandomSeedGenerator>>);
}
OpDef delete_multi_device_iterator_op() {
  OpDef row = delete_row("DeleteMultiDeviceIterator", kernel_any<remove<MultiDeviceIterator>>);
  row.inputs = "multi_device_iterator:resource; iterators:N*resource; deleter:variant";
  row.attrs = "N:int>=0";
  row.host = "multi_device_iterator, iterators, deleter";
  return row;
}

}  // namespace weir::ops
