#include "runtime/session_functions.h"

#include <unordered_map>

#include "base/errors.h"
#include "graph/bodies.h"
#include "runtime/derived_function.h"
#include "runtime/run_count.h"

namespace weir {
namespace {

constexpr size_t kMaxArgumentsOnStack = 32;

bool has_state(const Body& body) {
  return std::any_of(body.nodes.begin(), body.nodes.end(), [](const Node* node) { return node->op->stateful; });
}

Error ended_error() { return error(Code::Cancelled, "the session was closed"); }

}  // namespace

// Functions that share a place for what their operations keep between calls.
class SessionFunctions::Group final : public GraphFunctions, public std::enable_shared_from_this<Group> {
 public:
  Group(Graph& graph, const PlanEnvironment& environment)
      : graph_(graph),
        environment_(environment),
        resources_{environment.resources.named, {}, environment.resources.functions},
        plans_({.devices = environment.devices,
                .lanes = environment.lanes,
                .resources = resources_,
                .arenas = environment.arenas,
                .options = environment.options},
               PlanCache::Limits{}, calls_) {}

  GraphFunction& find(const std::string& name) override {
    std::lock_guard lock(mutex_);
    auto found = functions_.find(name);
    if (found != functions_.end()) return *found->second;
    {
      std::lock_guard graph_lock(graph_.impl().storage.mutex);
      const Body* body = find_body(graph_, name);
      if (body && body->is_function) return *(functions_[name] = std::make_unique<Function>(*this, *body));
    }
    return derived(name, name, std::nullopt);
  }

  GraphFunction& find_gradient(const std::string& name, std::span<const DType> types) override {
    std::string key = name;
    for (DType type : types) key += fmt::format(" {}", dtype_name(type));
    std::lock_guard lock(mutex_);
    return derived(key, name, types);
  }

  void end() {
    ended_.store(true);
    calls_.close(std::chrono::milliseconds{0});
    calls_.await_end();
    {
      std::lock_guard lock(mutex_);
      for (const auto& [key, function] : derived_) {
        if (function) function->end();
      }
    }
    plans_.clear();
    resources_.of_nodes.clear_all();
  }

 private:
  // A call is under way.
  struct Calling {
    explicit Calling(Group& g) : group(g) {
      group.calls_.enter();
      if (!group.ended_.load()) return;
      leave();
      throw ended_error();
    }
    ~Calling() { leave(); }
    void leave() const {
      group.calls_.leave([] {});
    }
    Calling(const Calling&) = delete;
    Calling& operator=(const Calling&) = delete;
    Group& group;
  };

  class Function final : public GraphFunction {
   public:
    // REQUIRES: the lock of the graph is held.
    Function(Group& group, const Body& body) : group_(group) {
      signature_.body = &body;
      arguments_ = body.parameters.size();
      for (size_t i = 0; i < arguments_; ++i) {
        const Output& parameter = body.parameters[i];
        // A handle that it reads from around it is known to the whole session: the function looks it up by itself.
        if (parameter.dtype() == DType::Resource && parameter.node()->body != &body) continue;
        fed_.push_back(i);
        signature_.feeds.push_back(parameter);
      }
      signature_.fetches = body.results;
      signature_.targets = body.targets;
      stateful_ = has_state(body);
      group.plans_.enter(signature_);
    }
    ~Function() override { group_.plans_.leave(signature_); }

    size_t arguments() const override { return arguments_; }
    size_t results() const override { return signature_.fetches.size(); }
    bool stateful() const override { return stateful_; }

    void call(std::span<const Tensor> arguments, std::span<Tensor> results, const RunControl& control) override {
      if (arguments.size() != arguments_ || results.size() != signature_.fetches.size()) {
        throw invalid_argument("the function '{}' takes {} arguments and gives {} results; {} and {} are wanted",
                               signature_.body->name, arguments_, signature_.fetches.size(), arguments.size(),
                               results.size());
      }
      Calling calling(group_);
      const Tensor* on_stack[kMaxArgumentsOnStack];
      std::vector<const Tensor*> on_heap;
      const Tensor** values = on_stack;
      if (fed_.size() > kMaxArgumentsOnStack) {
        on_heap.resize(fed_.size());
        values = on_heap.data();
      }
      for (size_t i = 0; i < fed_.size(); ++i) {
        values[i] = &arguments[fed_[i]];
        const DType wanted = signature_.feeds[i].dtype();
        if (values[i]->dtype() == wanted) continue;
        throw invalid_argument("argument {} of the function '{}' is {}; {} is wanted", fed_[i], signature_.body->name,
                               dtype_name(values[i]->dtype()), dtype_name(wanted));
      }
      const std::shared_ptr<const Fit> fit = group_.plans_.plan(signature_, {values, fed_.size()});
      fit->plan->run(*fit, {values, fed_.size()}, results, control, nullptr);
    }

   private:
    Group& group_;
    Signature signature_;
    size_t arguments_ = 0;
    bool stateful_ = false;
    std::vector<size_t> fed_;  // the arguments that are values
  };

  // REQUIRES: mutex_ is held.
  GraphFunction& derived(const std::string& key, const std::string& name, std::optional<std::span<const DType>> types) {
    std::unique_ptr<DerivedFunction>& found = derived_[key];
    if (!found) {
      if (ended_.load()) throw ended_error();
      const std::stop_token closed = environment_.resources.functions->closed();
      found = std::make_unique<DerivedFunction>(graph_, name, types, environment_, closed);
    }
    return *found;
  }

  Graph& graph_;
  const PlanEnvironment environment_;
  SessionResources resources_;
  RunCount calls_;
  std::atomic<bool> ended_{false};
  PlanCache plans_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::unordered_map<std::string, std::unique_ptr<Function>> functions_;
  std::unordered_map<std::string, std::unique_ptr<DerivedFunction>> derived_;
};

SessionFunctions::SessionFunctions(Graph& graph, const PlanEnvironment& environment, std::stop_token closed)
    : graph_(graph), environment_(environment), closed_(std::move(closed)) {}

SessionFunctions::~SessionFunctions() = default;

std::shared_ptr<GraphFunctions> SessionFunctions::pipeline_functions() {
  PlanEnvironment environment = environment_;
  environment.options.prefers_host = true;
  return make_group(environment);
}

std::shared_ptr<GraphFunctions> SessionFunctions::make_group(const PlanEnvironment& environment) {
  std::lock_guard lock(mutex_);
  if (ended_) throw ended_error();
  auto group = std::make_shared<Group>(graph_, environment);
  std::erase_if(groups_, [](const std::weak_ptr<Group>& each) { return each.expired(); });
  groups_.push_back(group);
  return group;
}

void SessionFunctions::end() {
  std::vector<std::weak_ptr<Group>> groups;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    groups.swap(groups_);
  }
  for (const std::weak_ptr<Group>& each : groups) {
    if (std::shared_ptr<Group> group = each.lock()) group->end();
  }
}

}  // namespace weir
