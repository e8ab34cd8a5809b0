#include "weir/session.h"

#include "base/errors.h"
#include "base/nodes_elsewhere.h"
#include "devices/device.h"
#include "graph/bodies.h"
#include "ops/run_control.h"
#include "runtime/partial_steps.h"
#include "runtime/plan_cache.h"
#include "runtime/remote_session.h"
#include "runtime/run_count.h"
#include "runtime/session_functions.h"
#include "weir/partial_run.h"

namespace weir {
namespace {

constexpr size_t kMaxIdleBytes = size_t{1} << 30;  // of arenas that no run is using
constexpr size_t kMaxFeedsOnStack = 32;

}  // namespace

struct Session::Impl {
  Impl(Graph& g, const SessionOptions& o)
      : graph(g),
        options(o),
        devices(o),
        resources{o.resources ? o.resources->manager() : std::make_shared<ResourceManager>()} {
    if (o.resources && o.resources->nodes()) {
      resources.of_nodes.find_or_make<NodesElsewhere>(
          {}, NodesElsewhere::kName, [&] { return make_resource<NodesElsewhere>(o.resources->nodes()); });
    }
    if (options.log_device_placement) placement_log.emplace(devices);
    plans.emplace(environment(), PlanCache::Limits{}, runs);
    functions = std::make_shared<SessionFunctions>(graph, environment(), closed);
    resources.functions = functions;
  }
  ~Impl() { functions->end(); }

  Graph& graph;
  SessionOptions options;
  DeviceSet devices;
  std::shared_ptr<LanePool> lanes = LanePool::shared();
  std::optional<PlacementLog> placement_log;
  SessionResources resources;
  std::stop_source closing;
  const std::stop_token closed = closing.get_token();
  RunCount runs;

  ArenaPool arenas{devices, kMaxIdleBytes};
  std::optional<PlanCache> plans;
  std::shared_ptr<SessionFunctions> functions;

  // Somebody is in a run.
  struct Running {
    Impl& session;
    explicit Running(Impl& s) : session(s) { session.runs.enter(); }
    ~Running() {
      session.runs.leave([this] { session.release_state(); });
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
  };

  // REQUIRES: the graph's lock is held. Nodes may gain outputs meanwhile.
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
            .arenas = arenas,
            .options = {.passes = options.passes,
                        .inter_op_threads = inter > 0 ? std::min(inter, threads) : threads,
                        .direct_convolutions = options.direct_convolutions,
                        .allow_soft_placement = options.allow_soft_placement},
            .placement_log = placement_log ? &*placement_log : nullptr};
  }

  std::unique_ptr<Signature> make_signature(std::span<const Output> fetches, std::vector<Output> feeds,
                                            std::span<const Operation> targets) const {
    auto s = std::make_unique<Signature>();
    {
      std::lock_guard lock(graph.impl().storage.mutex);
      check(fetches, feeds, targets);
      for (const Output& feed : feeds) s->feed_types.push_back(feed.dtype());
    }
    s->fetches.assign(fetches.begin(), fetches.end());
    s->feeds = std::move(feeds);
    s->targets.assign(targets.begin(), targets.end());
    return s;
  }

  Signature& signature(std::span<const Output> fetches, std::span<const Feed> feeds,
                       std::span<const Operation> targets) {
    if (Signature* known = plans->find(fetches, feeds, targets)) return *known;
    std::vector<Output> fed;
    for (const Feed& feed : feeds) fed.push_back(feed.output);
    return plans->add(make_signature(fetches, std::move(fed), targets));
  }

  static void check_types(const Signature& s, std::span<const Tensor* const> feeds) {
    for (size_t i = 0; i < feeds.size(); ++i) {
      if (s.feed_types[i] == DType::Resource) {
        s.feeds[i].node()->fail(Code::InvalidArgument,
                                fmt::format("'{}' is a handle and cannot be fed", s.feeds[i].name()));
      }
      if (feeds[i]->dtype() == s.feed_types[i]) continue;
      s.feeds[i].node()->fail(Code::InvalidArgument,
                              fmt::format("a value of type {} is fed; '{}' is {}", dtype_name(feeds[i]->dtype()),
                                          s.feeds[i].name(), dtype_name(s.feed_types[i])));
    }
  }

  // Throws Cancelled when the session is closed.
  RunControl control_of(const RunOptions& run_options) const {
    if (closed.stop_requested()) throw Error(Code::Cancelled, "the session has been closed");
    RunControl control;
    control.session = &closed;
    if (run_options.stop.stop_possible()) control.program = &run_options.stop;
    auto timeout = run_options.timeout.count() > 0 ? run_options.timeout : options.operation_timeout;
    if (timeout.count() > 0) control.deadline = std::chrono::steady_clock::now() + timeout;
    return control;
  }

  // REQUIRES: a Running.
  void run(Signature& s, std::span<const Tensor* const> feeds, std::span<Tensor> results,
           const RunOptions& run_options) {
    const RunControl control = control_of(run_options);
    check_types(s, feeds);
    const std::shared_ptr<const Fit> fit = plans->plan(s, feeds);
    fit->plan->run(*fit, feeds, results, control, run_options.trace);
  }

  // Runs that wait end at once; those that compute, at their next step. A caller of close() does not wait long for
  // them.
  void close() {
    constexpr std::chrono::milliseconds kPatience{20};
    closing.request_stop();
    if (runs.close(kPatience)) release_state();
  }

  // Programs keep closed sessions; what only this one could use need not stay in memory with it.
  void release_state() {
    plans->clear();
    arenas.trim();
    resources.of_nodes.clear_all();
    if (!options.resources) resources.named->clear_all();
  }
};

Session::Session(Graph& graph, const SessionOptions& options) : graph_(&graph) {
  if (options.target.empty()) {
    impl_ = std::make_unique<Impl>(graph, options);
  } else {
    remote_ = connect_session(graph, options);
  }
}
Session::~Session() {
  if (remote_) return;
  impl_->close();
  impl_->runs.await_end();
}
Graph& Session::graph() const { return *graph_; }
void Session::close() {
  if (remote_) return remote_->close();
  impl_->close();
}
void Session::reset(const std::vector<std::string>& containers) {
  if (remote_) return remote_->reset(containers);
  impl_->resources.named->reset(containers);
  close();
}

void Session::run_into(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                       const RunOptions& options, std::span<Tensor> results) {
  if (remote_) return remote_->run(fetches, feeds, targets, options, results);
  Impl::Running running(*impl_);
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
  explicit Impl(std::shared_ptr<RemoteSession::Callable> r) : remote(std::move(r)) {}
  Impl(Session::Impl& s, std::unique_ptr<Signature> owned) : session(&s), signature(std::move(owned)) {
    session->plans->enter(*signature);
  }
  ~Impl() {
    if (session) session->plans->leave(*signature);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  std::shared_ptr<RemoteSession::Callable> remote = {};
  Session::Impl* session = nullptr;
  std::unique_ptr<Signature> signature = {};
};

Session::Callable Session::make_callable(const CallableSpec& spec) {
  if (remote_) return Callable(std::make_shared<Callable::Impl>(remote_->make_callable(spec)));
  auto signature = impl_->make_signature(spec.fetches, spec.feeds, spec.targets);
  return Callable(std::make_shared<Callable::Impl>(*impl_, std::move(signature)));
}

size_t Session::Callable::fetches() const {
  return impl_->remote ? impl_->remote->fetches() : impl_->signature->fetches.size();
}

void Session::Callable::call(std::span<const Tensor> feeds, std::span<Tensor> results,
                             const RunOptions& options) const {
  if (impl_->remote) return impl_->remote->call(feeds, results, options);
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
  Session::Impl::Running running(*impl_->session);
  impl_->session->run(s, {values, feeds.size()}, results, options);
}

std::vector<DeviceInfo> Session::devices() const {
  if (remote_) return remote_->devices();
  std::vector<DeviceInfo> list;
  for (int i = 0; i < impl_->devices.size(); ++i) list.push_back(impl_->devices[i].info());
  return list;
}

std::string Session::partial_run_setup(const CallableSpec& spec) {
  if (remote_) return remote_->partial_run_setup(spec);
  throw error(Code::Unimplemented, "partial runs are for sessions on a server (SessionOptions::target)");
}

std::vector<Tensor> Session::partial_run(const std::string& handle, const std::vector<Output>& fetches,
                                         const Feeds& feeds, const RunOptions& options) {
  if (!remote_) throw error(Code::Unimplemented, "partial runs are for sessions on a server (SessionOptions::target)");
  std::vector<Tensor> results(fetches.size());
  remote_->partial_run(handle, fetches, feeds.span(), results, options);
  return results;
}

struct PartialRun::Impl {
  Session::Impl& session;
  PartialSteps steps;
};

PartialRun::PartialRun(Session& session, const CallableSpec& spec) {
  if (!session.impl_) throw error(Code::Unimplemented, "a server makes runs in pieces by its own interface");
  Session::Impl& owner = *session.impl_;
  {
    std::lock_guard lock(owner.graph.impl().storage.mutex);
    owner.check(spec.fetches, spec.feeds, spec.targets);
  }
  impl_.reset(new Impl{owner, PartialSteps(owner.environment(), spec)});
}

PartialRun::~PartialRun() = default;

std::vector<Tensor> PartialRun::run(const std::vector<Output>& fetches, const std::vector<Feed>& feeds,
                                    const std::vector<Operation>& targets, const RunOptions& options) {
  Session::Impl::Running running(impl_->session);
  const RunControl control = impl_->session.control_of(options);
  std::vector<Tensor> results(fetches.size());
  impl_->steps.run(fetches, feeds, targets, results, control, options.trace);
  return results;
}

}  // namespace weir
