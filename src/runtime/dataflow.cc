#include "runtime/dataflow.h"

#include <deque>
#include <list>
#include <map>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/run_control.h"
#include "runtime/dataflow_exchange.h"
#include "runtime/dataflow_parts.h"
#include "runtime/values.h"

namespace weir {

using ops::DataflowKind;

// Beyond this many different shapes one plan that leaves all shapes to the run serves the rest.
constexpr size_t kMaxPlans = 16;

Plan& DataflowPart::plan_for(std::span<const Value> values, const Plan& owner, int device) {
  auto fits = [&](const Planned& planned) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].shape ? planned.shapes[i] != *values[i].shape : planned.shapes[i].is_known()) return false;
    }
    return true;
  };
  std::lock_guard lock(mutex_);
  for (const Planned& planned : plans_) {
    if (fits(planned)) return *planned.plan;
  }
  if (plans_.size() > kMaxPlans) return *plans_.back().plan;
  std::vector<FeedSpec> specs;
  Planned made;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool exact = values[i].shape && plans_.size() < kMaxPlans;
    specs.push_back({values[i].dtype, exact ? *values[i].shape : Shape::unknown()});
    made.shapes.push_back(specs.back().shape);
  }
  const PlanPart part{nodes, references};
  made.plan = owner.make_body_plan({fetches, feeds, specs, targets, body, false, &part}, device);
  plans_.push_back(std::move(made));
  return *plans_.back().plan;
}

namespace {

// A value that a unit gave, or that it gave none.
class Token {
 public:
  Token() = default;
  explicit Token(const Value& value) : alive_(true) { refer(value_, value); }
  Token(const Token& other) : alive_(other.alive_) { refer(value_, other.value_); }
  Token& operator=(const Token& other) {
    if (this == &other) return *this;
    let_go(value_);
    refer(value_, other.value_);
    alive_ = other.alive_;
    return *this;
  }
  ~Token() { let_go(value_); }
  static Token without_value() {
    Token token;
    token.alive_ = true;
    return token;
  }
  bool alive() const { return alive_; }
  const Value& value() const { return value_; }

 private:
  Value value_;
  bool alive_ = false;
};

// What a unit has got so far in one iteration.
struct Inbox {
  std::vector<Token> inputs;
  int missing = 0;   // inputs and controls that have not come
  int controls = 0;  // of them
  bool dead = false;
  bool started = false;
  int dead_inputs = 0;  // of a Merge
  int chosen = -1;      // of a Merge: the first input that came
};

struct Iteration {
  std::unordered_map<int, Inbox> inboxes;  // by unit
  int active = 0;                          // units that are ready, and loops inside
};

// One run of a loop; of the whole, the outermost.
struct FrameRun {
  int frame = 0;
  DataflowFrameName name;
  FrameRun* parent = nullptr;
  int64_t parent_iteration = 0;
  int enters = 0;  // that have not come
  int active = 0;
  std::map<int64_t, Iteration> iterations;
  std::vector<std::pair<int, Token>> constants;  // what every iteration gets: Enters and their values
  std::unordered_set<int> left;                  // Exits that have given a value
};

// A unit that is due in an iteration.
struct Ready {
  FrameRun* frame;
  int64_t iteration;
  int unit;
};

// One that goes on by itself.
struct Begun {
  Ready at;
  Inbox inbox;
  std::vector<Token> outputs;
};

}  // namespace

class Dataflow::Run {
 public:
  Run(Dataflow& dataflow, const RunControl& control, Tracer* tracer)
      : structure_(*dataflow.structure_),
        dataflow_(dataflow),
        exchange_(make_exchange(dataflow, control)),
        control_(exchange_ ? exchange_->control() : control),
        tracer_(tracer) {
    root_ = &frames_.emplace_back();
    wanted_.resize(structure_.units.size());
    for (const DataflowSource& fetch : structure_.fetches) {
      if (fetch.unit >= 0) wanted_[static_cast<size_t>(fetch.unit)] = true;
    }
  }

  void run(std::span<const Value> feeds, std::span<Value> results) {
    root_->iterations[0];
    for (size_t u = 1; u < structure_.units.size(); ++u) {
      const DataflowUnit& unit = structure_.units[u];
      if (unit.frame == 0 && unit.inputs.empty() && unit.controls.empty()) start(*root_, 0, static_cast<int>(u));
    }
    std::vector<Token> fed;
    for (const Value& feed : feeds) fed.emplace_back(feed);
    if (wanted_[0]) results_[0] = fed;
    if (structure_.step_feed >= 0) {
      step_ = *static_cast<const int64_t*>(feeds[static_cast<size_t>(structure_.step_feed)].data);
    }
    deliver(*root_, 0, 0, fed, true);
    while (!ready_.empty() || (exchange_ && exchange_->expects())) {
      control_.check();
      if (ready_.empty()) {
        take_over(exchange_->take());
        continue;
      }
      const Ready next = ready_.front();
      ready_.pop_front();
      if (execute(next)) done(*next.frame, next.iteration);
    }
    give(results);
  }

 private:
  static std::unique_ptr<DataflowExchange> make_exchange(const Dataflow& dataflow, const RunControl& control) {
    return dataflow.rendezvous_ ? std::make_unique<DataflowExchange>(control) : nullptr;
  }

  const DataflowUnit& unit(int index) const { return structure_.units[static_cast<size_t>(index)]; }

  void start(FrameRun& frame, int64_t iteration, int index) {
    Inbox& inbox = inbox_of(frame, iteration, index);
    if (inbox.started) return;
    inbox.started = true;
    ++frame.active;
    ++frame.iterations[iteration].active;
    ready_.push_back({&frame, iteration, index});
  }

  Inbox& inbox_of(FrameRun& frame, int64_t iteration, int index) {
    auto [found, is_new] = frame.iterations[iteration].inboxes.try_emplace(index);
    Inbox& inbox = found->second;
    if (!is_new) return inbox;
    const DataflowUnit& reader = unit(index);
    inbox.inputs.resize(reader.inputs.size());
    inbox.controls = static_cast<int>(reader.controls.size());
    inbox.missing = static_cast<int>(reader.inputs.size()) + inbox.controls;
    return inbox;
  }

  // How many inputs of a Merge can come in this iteration.
  static int expected(const DataflowUnit& merge, int64_t iteration) {
    if (merge.later_inputs == 0) return static_cast<int>(merge.inputs.size());
    return iteration == 0 ? static_cast<int>(merge.inputs.size()) - merge.later_inputs : merge.later_inputs;
  }

  void arrive(FrameRun& frame, int64_t iteration, const DataflowUnit::Reader& reader, const Token& token) {
    if (reader.input < 0) {
      arrive_control(frame, iteration, reader.unit, token.alive());
      return;
    }
    const DataflowUnit& to = unit(reader.unit);
    Inbox& inbox = inbox_of(frame, iteration, reader.unit);
    if (to.kind == DataflowKind::Merge) {
      if (!token.alive()) {
        ++inbox.dead_inputs;
      } else if (inbox.chosen < 0) {
        inbox.chosen = reader.input;
        inbox.inputs[static_cast<size_t>(reader.input)] = token;
      }
      start_merge(frame, iteration, reader.unit, inbox);
      return;
    }
    inbox.inputs[static_cast<size_t>(reader.input)] = token;
    inbox.dead |= !token.alive();
    if (--inbox.missing == 0) start(frame, iteration, reader.unit);
  }

  void start_merge(FrameRun& frame, int64_t iteration, int index, Inbox& inbox) {
    if (inbox.controls > 0) return;
    if (inbox.chosen < 0 && inbox.dead_inputs < expected(unit(index), iteration)) return;
    inbox.dead = inbox.chosen < 0;
    start(frame, iteration, index);
  }

  void arrive_control(FrameRun& frame, int64_t iteration, int index, bool alive) {
    Inbox& inbox = inbox_of(frame, iteration, index);
    --inbox.controls;
    if (unit(index).kind == DataflowKind::Merge) {
      start_merge(frame, iteration, index, inbox);
      return;
    }
    inbox.dead |= !alive && unit(index).kind != DataflowKind::Trigger;
    if (--inbox.missing == 0) start(frame, iteration, index);
  }

  // Tells everybody who reads it or waits for it.
  void deliver(FrameRun& frame, int64_t iteration, int index, const std::vector<Token>& outputs, bool alive) {
    const DataflowUnit& from = unit(index);
    for (size_t o = 0; o < from.readers.size(); ++o) {
      for (const DataflowUnit::Reader& reader : from.readers[o]) arrive(frame, iteration, reader, outputs[o]);
    }
    const Token nothing = alive ? Token::without_value() : Token();
    for (const DataflowUnit::Reader& reader : from.given) arrive(frame, iteration, reader, nothing);
    for (int waiting : from.waiting) arrive_control(frame, iteration, waiting, alive);
  }

  // False: the unit goes on by itself.
  bool execute(const Ready& ready) {
    const DataflowUnit& at = unit(ready.unit);
    FrameRun& frame = *ready.frame;
    Inbox inbox = std::move(frame.iterations[ready.iteration].inboxes[ready.unit]);
    frame.iterations[ready.iteration].inboxes[ready.unit].started = true;
    const bool alive = !inbox.dead;
    std::vector<Token> outputs(static_cast<size_t>(at.outputs));
    FrameRun* to = &frame;
    int64_t to_iteration = ready.iteration;
    if (at.part && alive && at.waits) {
      begin_part(ready, std::move(inbox));
      return false;
    }
    if (at.part) {
      if (alive) run_part(at, inbox, outputs);
    } else {
      switch (at.kind) {
        case DataflowKind::Switch:
          if (alive) outputs[predicate(at, inbox.inputs[1]) ? 1 : 0] = inbox.inputs[0];
          break;
        case DataflowKind::Merge:
          if (alive) {
            outputs[0] = inbox.inputs[static_cast<size_t>(inbox.chosen)];
            if (outputs.size() > 1) outputs[1] = number(inbox.chosen);
          }
          break;
        case DataflowKind::Enter:
          enter(ready, at, alive ? inbox.inputs[0] : Token());
          return true;
        case DataflowKind::Exit:
          if (!alive) return true;  // told when the loop has ended, unless an iteration gives a value
          if (!frame.left.insert(ready.unit).second) return true;
          outputs[0] = inbox.inputs[0];
          to = frame.parent;
          to_iteration = frame.parent_iteration;
          break;
        case DataflowKind::NextIteration:
          if (!alive) return true;
          outputs[0] = inbox.inputs[0];
          to_iteration = ready.iteration + 1;
          next_iteration(frame, to_iteration);
          break;
        case DataflowKind::LoopCond:
          outputs[0] = inbox.inputs[0];
          break;
        case DataflowKind::Receive:  // also when what it waits for is dead: then so is what comes
          receive(ready, at);
          return false;
        case DataflowKind::Send:
          send(ready, at, alive ? inbox.inputs[0] : Token());
          break;
        case DataflowKind::Trigger:
        case DataflowKind::None:
          break;
      }
    }
    const bool runs = alive || at.kind == DataflowKind::Trigger;
    if (to == root_ && wanted_[static_cast<size_t>(ready.unit)]) results_[ready.unit] = outputs;
    deliver(*to, to_iteration, ready.unit, outputs, runs);
    return true;
  }

  void send(const Ready& ready, const DataflowUnit& at, const Token& token) {
    const std::string key = ready.frame->name.in_key(at.key, ready.iteration, at.numbered_frames);
    try {
      if (!token.alive()) {
        dataflow_.rendezvous_->send_dead(step_, key);
      } else {
        dataflow_.rendezvous_->send(step_, key, share(token.value()));
      }
    } catch (const Error& e) {
      throw blamed(e, at);
    }
  }

  void receive(const Ready& ready, const DataflowUnit& at) {
    begun_.emplace(next_begun_, Begun{ready, {}, {}});
    exchange_->receive(next_begun_++, *dataflow_.rendezvous_, step_,
                       ready.frame->name.in_key(at.key, ready.iteration, at.numbered_frames));
  }

  void begin_part(const Ready& ready, Inbox inbox) {
    const DataflowUnit& at = unit(ready.unit);
    Begun& begun = begun_.emplace(next_begun_, Begun{ready, std::move(inbox), {}}).first->second;
    begun.outputs.resize(static_cast<size_t>(at.outputs));
    exchange_->run(next_begun_++, dataflow_.environment_.lanes,
                   [this, &at, &begun] { run_part(at, begun.inbox, begun.outputs); });
  }

  // What has gone on by itself has ended.
  void take_over(DataflowExchange::Arrival arrival) {
    auto node = begun_.extract(arrival.id);
    Begun& begun = node.mapped();
    const DataflowUnit& at = unit(begun.at.unit);
    if (arrival.error && at.part) std::rethrow_exception(arrival.error);
    if (arrival.error) {
      try {
        std::rethrow_exception(arrival.error);
      } catch (const Error& e) {
        throw blamed(e, at);
      }
    }
    bool alive = true;
    if (!at.part) {
      alive = arrival.value.valid();
      if (alive && arrival.value.dtype() != at.type) {
        throw blamed(error(Code::Internal, "a value of type {} came for '{}'; {} is wanted",
                           dtype_name(arrival.value.dtype()), at.key, dtype_name(at.type)),
                     at);
      }
      begun.outputs.push_back(alive ? token_of(arrival.value) : Token());
    }
    if (begun.at.frame == root_ && wanted_[static_cast<size_t>(begun.at.unit)]) results_[begun.at.unit] = begun.outputs;
    deliver(*begun.at.frame, begun.at.iteration, begun.at.unit, begun.outputs, alive);
    done(*begun.at.frame, begun.at.iteration);
  }

  static Error blamed(const Error& e, const DataflowUnit& at) {
    return e.node().empty() ? e.blaming(at.node->op->name, at.node->name, at.node->line) : e;
  }

  static bool predicate(const DataflowUnit& at, const Token& token) {
    const Value& value = token.value();
    if (!value.data || !value.shape || !value.shape->is_scalar()) {
      at.node->fail(Code::InvalidArgument, fmt::format("The second input must be a scalar, but it has shape {}",
                                                       value.shape ? value.shape->str() : "?"));
    }
    return *static_cast<const bool*>(value.data);
  }

  static Token number(int32_t value) { return token_of(Tensor(value)); }

  static Token token_of(const Tensor& tensor) {
    Value v;
    v.dtype = tensor.dtype();
    v.own_shape = tensor.shape();
    v.shape = &v.own_shape;
    hold(v, tensor);
    Token token(v);
    let_go(v);
    return token;
  }

  void run_part(const DataflowUnit& at, const Inbox& inbox, std::vector<Token>& outputs) {
    std::vector<Value> values(inbox.inputs.size());
    for (size_t i = 0; i < values.size(); ++i) refer(values[i], inbox.inputs[i].value());
    struct LetGo {
      std::vector<Value>& values;
      ~LetGo() {
        for (Value& v : values) let_go(v);
      }
    } let_go_at_end{values};
    run_plan(*at.part, values, [&](size_t i, const Value& value) { outputs[i] = Token(value); });
  }

  template <class Give>
  void run_plan(DataflowPart& part, std::span<const Value> values, const Give& give_result) {
    Plan::Call call(part.plan_for(values, dataflow_.plan_, dataflow_.environment_.home));
    call.run(values, control_, tracer_);
    for (size_t i = 0; i < part.fetches.size(); ++i) give_result(i, call.result(i));
  }

  void enter(const Ready& ready, const DataflowUnit& at, const Token& token) {
    FrameRun* inner = nullptr;
    for (FrameRun& each : frames_) {
      if (each.frame == at.to_frame && each.parent == ready.frame && each.parent_iteration == ready.iteration) {
        inner = &each;
      }
    }
    if (!inner) {
      inner = &frames_.emplace_back();
      inner->frame = at.to_frame;
      inner->name = ready.frame->name.inside(ready.iteration, structure_.frames[static_cast<size_t>(at.to_frame)].name);
      inner->parent = ready.frame;
      inner->parent_iteration = ready.iteration;
      inner->enters = structure_.frames[static_cast<size_t>(at.to_frame)].enters;
      inner->iterations[0];
      ++ready.frame->active;
      ++ready.frame->iterations[ready.iteration].active;
    }
    --inner->enters;
    ++inner->active;  // so that it does not end under our hands
    if (at.is_constant) {
      inner->constants.emplace_back(ready.unit, token);
      std::vector<int64_t> numbers;
      for (const auto& each : inner->iterations) numbers.push_back(each.first);
      for (int64_t iteration : numbers) deliver(*inner, iteration, ready.unit, {token}, token.alive());
    } else {
      deliver(*inner, 0, ready.unit, {token}, token.alive());
    }
    --inner->active;
    end_if_done(*inner);
  }

  void next_iteration(FrameRun& frame, int64_t iteration) {
    if (frame.iterations.contains(iteration)) return;
    frame.iterations[iteration];
    for (const auto& [enter_unit, token] : frame.constants) {
      deliver(frame, iteration, enter_unit, {token}, token.alive());
    }
  }

  // A unit has run, or a loop inside has ended.
  void done(FrameRun& frame, int64_t iteration) {
    --frame.active;
    --frame.iterations[iteration].active;
    if (&frame == root_) return;
    // What is past cannot be reached any more: values of earlier iterations only go forward.
    while (frame.iterations.size() > 1 && frame.enters == 0 && frame.iterations.begin()->second.active == 0) {
      frame.iterations.erase(frame.iterations.begin());
    }
    end_if_done(frame);
  }

  void end_if_done(FrameRun& frame) {
    if (&frame == root_ || frame.active > 0 || frame.enters > 0) return;
    FrameRun& parent = *frame.parent;
    const int64_t iteration = frame.parent_iteration;
    for (int exit : structure_.frames[static_cast<size_t>(frame.frame)].exits) {
      if (frame.left.contains(exit)) continue;
      const std::vector<Token> nothing(1);
      if (&parent == root_ && wanted_[static_cast<size_t>(exit)]) results_[exit] = nothing;
      deliver(parent, iteration, exit, nothing, false);
    }
    frames_.remove_if([&](const FrameRun& each) { return &each == &frame; });
    done(parent, iteration);
  }

  void give(std::span<Value> results) {
    size_t last = 0;
    std::vector<Token> read;
    if (structure_.last) {
      read.resize(structure_.last->fetches.size());
      run_plan(*structure_.last, {}, [&](size_t i, const Value& value) { read[i] = Token(value); });
    }
    for (size_t i = 0; i < structure_.fetches.size(); ++i) {
      const DataflowSource& source = structure_.fetches[i];
      Token token;
      if (source.unit < 0) {
        token = read[last++];
      } else if (auto found = results_.find(source.unit); found != results_.end()) {
        token = found->second[static_cast<size_t>(source.output)];
      }
      if (!token.alive()) {
        throw invalid_argument("The tensor returned for {} was not valid. (Retval[{}] does not have value)",
                               structure_.fetch_names[i], i);
      }
      refer(results[i], token.value());
    }
  }

  const DataflowStructure& structure_;
  Dataflow& dataflow_;
  int64_t step_ = 0;
  int next_begun_ = 0;
  std::unordered_map<int, Begun> begun_;        // what goes on by itself
  std::unique_ptr<DataflowExchange> exchange_;  // null: nothing does; it goes before what it works on
  const RunControl& control_;
  Tracer* tracer_;
  std::list<FrameRun> frames_;  // under way
  FrameRun* root_;
  std::deque<Ready> ready_;
  std::vector<bool> wanted_;  // units that are fetched from
  std::unordered_map<int, std::vector<Token>> results_;
};

Dataflow::Dataflow(const Plan& plan, const PlanEnvironment& environment, const PlanRequest& request)
    : plan_(plan), environment_(environment) {
  Graph& graph = !request.fetches.empty() ? request.fetches[0].graph() : request.targets[0].graph();
  {
    std::lock_guard lock(graph.impl().storage.mutex);
    structure_ = analyse_dataflow(request);
  }
  if (structure_->step_feed < 0) return;
  rendezvous_ =
      environment_.resources.named->find<ops::Rendezvous>(ops::Rendezvous::kContainer, ops::Rendezvous::kName);
  if (!rendezvous_) throw error(Code::FailedPrecondition, "only the parts of a server's step can exchange values");
}

Dataflow::~Dataflow() = default;

size_t Dataflow::fetches() const { return structure_->fetches.size(); }

void Dataflow::run(std::span<const Value> feeds, std::span<Value> results, const RunControl& control, Tracer* tracer) {
  Run(*this, control, tracer).run(feeds, results);
}

}  // namespace weir
