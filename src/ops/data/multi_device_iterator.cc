#include "ops/data/multi_device_iterator.h"

#include <future>

#include "base/errors.h"
#include "ops/control/output_shapes.h"

namespace weir::ops {

int64_t MultiDeviceIterator::initialize(const DatasetPtr& dataset, const std::shared_ptr<FunctionRunner>& runner,
                                        int64_t max_buffered) {
  require_compatible(spec_, dataset->spec());
  const auto max = static_cast<size_t>(std::max<int64_t>(max_buffered, 1));
  auto deal = std::make_shared<Deal>(runner, dataset, shards_, max);
  int64_t incarnation = 0;
  {
    std::lock_guard lock(mutex_);
    std::swap(deal_, deal);
    incarnation = ++incarnation_;
  }
  if (deal) {
    deal->pass.end();
    deal->changed.notify_all();
  }
  return incarnation;
}

// Pulls the next element for the shard whose turn it is. REQUIRES: `lock` is held; it is let go meanwhile.
void MultiDeviceIterator::pull(Deal& deal, const RunControl& control, std::unique_lock<std::mutex>& lock) {
  deal.pulling = true;
  lock.unlock();
  std::promise<Made> arrived;
  Made made;
  try {
    deal.pass.next(control, [&](bool got, Element&& element, std::exception_ptr error) {
      arrived.set_value({std::move(element), std::move(error), !got});
    });
    made = arrived.get_future().get();
  } catch (...) {
    made.error = std::current_exception();
  }
  lock.lock();
  deal.pulling = false;
  deal.changed.notify_all();
  if (made.error) {
    // What failed is an element of that shard; that the run has ended says nothing of elements.
    if (control.cancelled() || (control.has_deadline() && std::chrono::steady_clock::now() >= control.deadline)) {
      std::rethrow_exception(made.error);
    }
    made.end = false;
  }
  if (made.end) {
    deal.ended = true;
    return;
  }
  deal.waiting[deal.turn].push_back(std::move(made));
  deal.turn = (deal.turn + 1) % deal.waiting.size();
}

bool MultiDeviceIterator::next(const RunControl& control, int32_t shard, int64_t incarnation, Element& out) {
  std::shared_ptr<Deal> deal;
  {
    std::lock_guard lock(mutex_);
    if (shard < 0 || static_cast<size_t>(shard) >= shards_) {
      throw invalid_argument("Shard {} is asked for; there are {}", shard, shards_);
    }
    if (!deal_) {
      throw error(Code::FailedPrecondition, "The multi-device iterator has not been initialized.");
    }
    if (incarnation != incarnation_) {
      throw invalid_argument("Invalid incarnation id: {} is asked for, the iterator is at {}", incarnation,
                             incarnation_);
    }
    deal = deal_;
  }
  std::unique_lock lock(deal->mutex);
  std::deque<Made>& mine = deal->waiting[static_cast<size_t>(shard)];
  for (;;) {
    if (!mine.empty()) {
      Made made = std::move(mine.front());
      mine.pop_front();
      deal->changed.notify_all();
      return made.give(out);
    }
    if (deal->ended) return false;
    if (!deal->pulling && deal->waiting[deal->turn].size() < deal->max_buffered) {
      pull(*deal, control, lock);
      continue;
    }
    auto changed = [&] {
      return !mine.empty() || deal->ended || (!deal->pulling && deal->waiting[deal->turn].size() < deal->max_buffered);
    };
    if (control.has_deadline()) {
      deal->changed.wait_until(lock, control.stop, control.deadline, changed);
    } else {
      deal->changed.wait(lock, control.stop, changed);
    }
    if (!changed()) control.end();
  }
}

namespace {

struct State {
  ResourcePtr<MultiDeviceIterator> iterator;
};

State prepare(PrepareContext& c) {
  return {c.named_resource<MultiDeviceIterator>([&](const std::string& name) {
    ElementSpec spec{c.attr<std::vector<DType>>("output_types"), c.attr<std::vector<Shape>>("output_shapes")};
    return make_resource<MultiDeviceIterator>(c.attr<std::string>("container"), name, std::move(spec),
                                              c.attr<std::vector<std::string>>("devices").size());
  })};
}
void give(KernelContext& c) { c.set_resource(0, c.state<State>().iterator.get()); }

struct Runner {
  std::shared_ptr<FunctionRunner> runner;
};
Runner prepare_runner(PrepareContext& c) { return {c.functions()}; }

void initialize(KernelContext& c) {
  *c.output<int64_t>() = c.resource<MultiDeviceIterator>(1).initialize(dataset_input(c, 0), c.state<Runner>().runner,
                                                                       c.scalar<int64_t>(2));
}

void get_next(KernelContext& c) {
  Element element;
  auto& iterator = c.resource<MultiDeviceIterator>(0);
  if (!iterator.next(control_of(c), c.scalar<int32_t>(1), c.scalar<int64_t>(2), element)) {
    throw error(Code::OutOfRange, "End of sequence");
  }
  give_element(c, std::move(element));
}

void infer_next(InferContext& c) {
  for (int i = 0; i < 3; ++i) c.require_scalar(i);
  infer_declared_shapes(c);
}

}  // namespace

OpDef multi_device_iterator_op() {
  return {.name = "MultiDeviceIterator",
          .outputs = "handle:resource",
          .attrs =
              "devices:list(string)>=1; shared_name:string; container:string; output_types:list(type)>=1; "
              "output_shapes:list(shape)>=1",
          .flags = "stateful",
          .host = "handle",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give>, .prepare = prepared<prepare>},
          .host_only = true};
}
OpDef multi_device_iterator_init_op() {
  return {.name = "MultiDeviceIteratorInit",
          .inputs = "dataset:variant; multi_device_iterator:resource; max_buffer_size:int64",
          .outputs = "incarnation_id:int64",
          .flags = "stateful",
          .host = "dataset, multi_device_iterator, max_buffer_size, incarnation_id",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<initialize>, .prepare = prepared<prepare_runner>},
          .effect = Effect::Other,
          .host_only = true};
}
OpDef multi_device_iterator_get_next_from_shard_op() {
  return {.name = "MultiDeviceIteratorGetNextFromShard",
          .inputs = "multi_device_iterator:resource; shard_num:int32; incarnation_id:int64",
          .outputs = "components:output_types",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "multi_device_iterator, shard_num, incarnation_id, components",
          .infer = infer_next,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<get_next>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}

}  // namespace weir::ops
