#include "weir/session.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/errors.h"
#include "devices/device.h"
#include "graph/bodies.h"
#include "runtime/plan.h"

namespace weir {
namespace {

// Plans kept for different shapes of the same feeds, and bytes of idle memory kept for them.
constexpr size_t kMaxPlans = 64;
constexpr size_t kMaxIdleBytes = size_t{1} << 30;
constexpr size_t kMaxFeedsOnStack = 32;

// What a run asks for. Its plans differ by the shapes of what is fed.
struct Signature {
  std::vector<Output> feeds, fetches;
  std::vector<Operation> targets;

  std::mutex mutex;
  std::vector<std::shared_ptr<Plan>> plans;  // the one used last stands first

  bool matches(std::span<const Output> other_fetches, std::span<const Feed> other_feeds,
               std::span<const Operation> other_targets) const {
    return std::equal(fetches.begin(), fetches.end(), other_fetches.begin(), other_fetches.end()) &&
           std::equal(targets.begin(), targets.end(), other_targets.begin(), other_targets.end()) &&
           std::equal(feeds.begin(), feeds.end(), other_feeds.begin(), other_feeds.end(),
                      [](const Output& a, const Feed& b) { return a == b.output; });
  }

  void trim() {
    std::lock_guard lock(mutex);
    for (const auto& plan : plans) plan->trim();
  }
};

size_t hash_of(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets) {
  size_t h = fetches.size() * 31 + feeds.size();
  auto mix = [&](const void* node, int index) {
    h = (h ^ (reinterpret_cast<size_t>(node) + static_cast<size_t>(index))) * 0x9e3779b97f4a7c15ull;
  };
  for (const Output& fetch : fetches) mix(fetch.node(), fetch.index());
  for (const Feed& feed : feeds) mix(feed.output.node(), feed.output.index());
  for (const Operation& target : targets) mix(target.node(), -1);
  return h;
}

}  // namespace

struct Session::Impl {
  Impl(Graph& g, const SessionOptions& o) : graph(g), options(o), devices(o) {
    if (options.log_device_placement) placement_log.emplace(devices);
  }

  Graph& graph;
  SessionOptions options;
  DeviceSet devices;
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  std::optional<PlacementLog> placement_log;
  ResourceManager resources;
  std::stop_source closing;
  const std::stop_token closed = closing.get_token();
  std::atomic<int> running{0};

  std::mutex mutex;
  std::unordered_multimap<size_t, std::unique_ptr<Signature>> signatures;
  std::vector<Signature*> callables;  // those that Callables own
  std::atomic<Signature*> last{nullptr};

  void check(std::span<const Output> fetches, std::span<const Output> feeds, std::span<const Operation> targets) const {
    auto own = [&](Node* node, const char* what) {
      if (!node) throw invalid_argument("a {} is an empty handle", what);
      if (node->graph != &graph) node->fail(Code::InvalidArgument, fmt::format("the {} is of another graph", what));
    };
    auto fetchable = [](const Node& node) {
      if (!enclosing_loop(node)) return;
      node.fail(
          Code::InvalidArgument,
          fmt::format("Operation '{}' has been marked as not fetchable: it is a part of a while loop", node.name));
    };
    auto plain = [](const Output& output, const char* what) {
      if (output.dtype() != DType::Variant) return;
      output.node()->fail(Code::InvalidArgument,
                          fmt::format("'{}' is a variant; it cannot be {}", output.name(), what));
    };
    for (const Output& fetch : fetches) {
      own(fetch.node(), "fetch");
      fetchable(*fetch.node());
      plain(fetch, "fetched");
    }
    for (const Output& feed : feeds) {
      own(feed.node(), "feed");
      plain(feed, "fed");
      if (!feed.node()->body) continue;
      feed.node()->fail(Code::InvalidArgument,
                        fmt::format("Tensor '{}' may not be fed: it is a part of a branch or a loop", feed.name()));
    }
    for (const Operation& target : targets) {
      own(target.node(), "target");
      fetchable(*target.node());
    }
  }

  PlanEnvironment environment() {
    int inter = options.inter_op_parallelism_threads;
    if (inter < 0) throw invalid_argument("inter_op_parallelism_threads is {}", inter);
    const int threads = devices[0].pool().threads();
    return {.devices = devices,
            .lanes = *lanes,
            .resources = resources,
            .options = {.passes = options.passes,
                        .inter_op_threads = inter > 0 ? std::min(inter, threads) : threads,
                        .direct_convolutions = options.direct_convolutions,
                        .allow_soft_placement = options.allow_soft_placement},
            .placement_log = placement_log ? &*placement_log : nullptr,
            .reclaim = [this] { trim_idle_plans(); }};
  }

  std::unique_ptr<Signature> make_signature(std::span<const Output> fetches, std::vector<Output> feeds,
                                            std::span<const Operation> targets) const {
    check(fetches, feeds, targets);
    auto s = std::make_unique<Signature>();
    s->fetches.assign(fetches.begin(), fetches.end());
    s->feeds = std::move(feeds);
    s->targets.assign(targets.begin(), targets.end());
    return s;
  }

  Signature& signature(std::span<const Output> fetches, std::span<const Feed> feeds,
                       std::span<const Operation> targets) {
    Signature* recent = last.load(std::memory_order_acquire);
    if (recent && recent->matches(fetches, feeds, targets)) return *recent;
    size_t hash = hash_of(fetches, feeds, targets);
    std::lock_guard lock(mutex);
    auto [begin, end] = signatures.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (it->second->matches(fetches, feeds, targets)) {
        last.store(it->second.get(), std::memory_order_release);
        return *it->second;
      }
    }
    std::vector<Output> fed;
    for (const Feed& feed : feeds) fed.push_back(feed.output);
    auto it = signatures.emplace(hash, make_signature(fetches, std::move(fed), targets));
    last.store(it->second.get(), std::memory_order_release);
    return *it->second;
  }

  std::shared_ptr<Plan> plan(Signature& s, std::span<const Tensor* const> feeds) {
    for (size_t i = 0; i < feeds.size(); ++i) {
      if (feeds[i]->dtype() != s.feeds[i].dtype()) {
        s.feeds[i].node()->fail(Code::InvalidArgument,
                                fmt::format("a value of type {} is fed; '{}' is {}", dtype_name(feeds[i]->dtype()),
                                            s.feeds[i].name(), dtype_name(s.feeds[i].dtype())));
      }
    }
    std::lock_guard lock(s.mutex);
    for (size_t i = 0; i < s.plans.size(); ++i) {
      if (s.plans[i]->accepts(feeds)) {
        if (i > 0)
          std::rotate(s.plans.begin(), s.plans.begin() + static_cast<std::ptrdiff_t>(i),
                      s.plans.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return s.plans[0];
      }
    }
    std::vector<FeedSpec> specs;
    for (const Tensor* feed : feeds) specs.push_back({feed->dtype(), feed->shape()});
    auto made = std::make_shared<Plan>(PlanRequest{s.fetches, s.feeds, specs, s.targets}, environment());
    size_t idle = made->arena_bytes();
    for (const auto& other : s.plans) idle += other->frame_bytes();
    for (size_t i = s.plans.size(); idle > kMaxIdleBytes && i-- > 0;) idle -= s.plans[i]->trim();
    if (s.plans.size() >= kMaxPlans) s.plans.pop_back();
    s.plans.insert(s.plans.begin(), made);
    return made;
  }

  void run(Signature& s, std::span<const Tensor* const> feeds, std::span<Tensor> results,
           const RunOptions& run_options) {
    if (closed.stop_requested()) throw Error(Code::Cancelled, "the session has been closed");
    RunControl control;
    control.session = &closed;
    if (run_options.stop.stop_possible()) control.program = &run_options.stop;
    auto timeout = run_options.timeout.count() > 0 ? run_options.timeout : options.operation_timeout;
    if (timeout.count() > 0) control.deadline = std::chrono::steady_clock::now() + timeout;
    struct Running {
      std::atomic<int>& count;
      explicit Running(std::atomic<int>& c) : count(c) { count.fetch_add(1); }
      ~Running() {
        count.fetch_sub(1);
        count.notify_all();
      }
    } guard(running);
    plan(s, feeds)->run(feeds, results, control, run_options.trace);
  }

  void trim_idle_plans() {
    std::lock_guard lock(mutex);
    for (const auto& entry : signatures) entry.second->trim();
    for (Signature* signature : callables) signature->trim();
  }

  // Runs that wait end at once; those that compute, at their next step. A caller of close() does not wait long for
  // them.
  void close() {
    closing.request_stop();
    constexpr std::chrono::milliseconds kPatience{20};
    constexpr std::chrono::microseconds kBetweenLooks{100};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (running.load() > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kBetweenLooks);
  }

  void await_runs() {
    for (int n = running.load(); n > 0; n = running.load()) running.wait(n);
  }
};

Session::Session(Graph& graph, const SessionOptions& options) : impl_(std::make_unique<Impl>(graph, options)) {}
Session::~Session() {
  impl_->close();
  impl_->await_runs();
}
void Session::close() { impl_->close(); }

void Session::run_into(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                       const RunOptions& options, std::span<Tensor> results) {
  if (impl_->closed.stop_requested()) throw Error(Code::Cancelled, "the session has been closed");
  Signature& s = impl_->signature(fetches, feeds, targets);
  const Tensor* on_stack[kMaxFeedsOnStack];
  std::vector<const Tensor*> on_heap;
  const Tensor** values = on_stack;
  if (feeds.size() > kMaxFeedsOnStack) {
    on_heap.resize(feeds.size());
    values = on_heap.data();
  }
  for (size_t i = 0; i < feeds.size(); ++i) values[i] = &feeds[i].value;
  impl_->run(s, {values, feeds.size()}, results, options);
}

Tensor Session::run(const Output& fetch, const Feeds& feeds, const Targets& targets, const RunOptions& options) {
  Tensor result;
  run_into({&fetch, 1}, feeds.span(), targets.span(), options, {&result, 1});
  return result;
}

std::vector<Tensor> Session::run(const std::vector<Output>& fetches, const Feeds& feeds, const Targets& targets,
                                 const RunOptions& options) {
  std::vector<Tensor> results(fetches.size());
  run_into(fetches, feeds.span(), targets.span(), options, results);
  return results;
}

void Session::run(const Operation& target, const Feeds& feeds, const RunOptions& options) {
  run_into({}, feeds.span(), {&target, 1}, options, {});
}

struct Session::Callable::Impl {
  Impl(Session::Impl& s, std::unique_ptr<Signature> owned) : session(s), signature(std::move(owned)) {
    std::lock_guard lock(session.mutex);
    session.callables.push_back(signature.get());
  }
  ~Impl() {
    std::lock_guard lock(session.mutex);
    std::erase(session.callables, signature.get());
  }
  Session::Impl& session;
  std::unique_ptr<Signature> signature;
};

Session::Callable Session::make_callable(const CallableSpec& spec) {
  auto signature = impl_->make_signature(spec.fetches, spec.feeds, spec.targets);
  return Callable(std::make_shared<Callable::Impl>(*impl_, std::move(signature)));
}

size_t Session::Callable::fetches() const { return impl_->signature->fetches.size(); }

void Session::Callable::call(std::span<const Tensor> feeds, std::span<Tensor> results,
                             const RunOptions& options) const {
  Signature& s = *impl_->signature;
  if (feeds.size() != s.feeds.size() || results.size() != s.fetches.size()) {
    throw invalid_argument("{} feeds and {} results are given; {} and {} are wanted", feeds.size(), results.size(),
                           s.feeds.size(), s.fetches.size());
  }
  const Tensor* on_stack[kMaxFeedsOnStack];
  std::vector<const Tensor*> on_heap;
  const Tensor** values = on_stack;
  if (feeds.size() > kMaxFeedsOnStack) {
    on_heap.resize(feeds.size());
    values = on_heap.data();
  }
  for (size_t i = 0; i < feeds.size(); ++i) values[i] = &feeds[i];
  impl_->session.run(s, {values, feeds.size()}, results, options);
}

}  // namespace weir
