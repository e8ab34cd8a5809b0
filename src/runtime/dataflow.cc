#include "runtime/dataflow.h"

#include <deque>
#include <list>
#include <map>

#include "base/errors.h"
#include "graph/graph_impl.h"
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
  FrameRun* parent = nullptr;
  int64_t parent_iteration = 0;
  int enters = 0;  // that have not come
  int active = 0;
  std::map<int64_t, Iteration> iterations;
  std::vector<std::pair<int, Token>> constants;  // what every iteration gets: Enters and their values
  std::unordered_set<int> left;                  // Exits that have given a value
};

}  // namespace

class Dataflow::Run {
 public:
  Run(Dataflow& dataflow, const RunControl& control, Tracer* tracer)
      : structure_(*dataflow.structure_), dataflow_(dataflow), control_(control), tracer_(tracer) {
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
    deliver(*root_, 0, 0, fed, true);
    while (!ready_.empty()) {
      const Ready next = ready_.front();
      ready_.pop_front();
      control_.check();
      execute(next);
      done(*next.frame, next.iteration);
    }
    give(results);
  }

 private:
  struct Ready {
    FrameRun* frame;
    int64_t iteration;
    int unit;
  };

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

  void execute(const Ready& ready) {
    const DataflowUnit& at = unit(ready.unit);
    FrameRun& frame = *ready.frame;
    Inbox inbox = std::move(frame.iterations[ready.iteration].inboxes[ready.unit]);
    frame.iterations[ready.iteration].inboxes[ready.unit].started = true;
    const bool alive = !inbox.dead;
    std::vector<Token> outputs(static_cast<size_t>(at.outputs));
    FrameRun* to = &frame;
    int64_t to_iteration = ready.iteration;
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
          return;
        case DataflowKind::Exit:
          if (!alive) return;  // told when the loop has ended, unless an iteration gives a value
          if (!frame.left.insert(ready.unit).second) return;
          outputs[0] = inbox.inputs[0];
          to = frame.parent;
          to_iteration = frame.parent_iteration;
          break;
        case DataflowKind::NextIteration:
          if (!alive) return;
          outputs[0] = inbox.inputs[0];
          to_iteration = ready.iteration + 1;
          next_iteration(frame, to_iteration);
          break;
        case DataflowKind::LoopCond:
          outputs[0] = inbox.inputs[0];
          break;
        case DataflowKind::Trigger:
        case DataflowKind::None:
          break;
      }
    }
    const bool runs = alive || at.kind == DataflowKind::Trigger;
    if (to == root_ && wanted_[static_cast<size_t>(ready.unit)]) results_[ready.unit] = outputs;
    deliver(*to, to_iteration, ready.unit, outputs, runs);
  }

  static bool predicate(const DataflowUnit& at, const Token& token) {
    const Value& value = token.value();
    if (!value.data || !value.shape || !value.shape->is_scalar()) {
      at.node->fail(Code::InvalidArgument, fmt::format("The second input must be a scalar, but it has shape {}",
                                                       value.shape ? value.shape->str() : "?"));
    }
    return *static_cast<const bool*>(value.data);
  }

  static Token number(int32_t value) {
    const Tensor tensor(value);
    Value v;
    v.dtype = DType::Int32;
    v.own_shape = Shape{};
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
    Plan::Call call(part.plan_for(values, dataflow_.plan_, dataflow_.device_));
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
  const RunControl& control_;
  Tracer* tracer_;
  std::list<FrameRun> frames_;  // under way
  FrameRun* root_;
  std::deque<Ready> ready_;
  std::vector<bool> wanted_;  // units that are fetched from
  std::unordered_map<int, std::vector<Token>> results_;
};

Dataflow::Dataflow(const Plan& plan, const PlanRequest& request, int device) : plan_(plan), device_(device) {
  Graph& graph = !request.fetches.empty() ? request.fetches[0].graph() : request.targets[0].graph();
  std::lock_guard lock(graph.impl().storage.mutex);
  structure_ = analyse_dataflow(request);
}

Dataflow::~Dataflow() = default;

size_t Dataflow::fetches() const { return structure_->fetches.size(); }

void Dataflow::run(std::span<const Value> feeds, std::span<Value> results, const RunControl& control, Tracer* tracer) {
  Run(*this, control, tracer).run(feeds, results);
}

}  // namespace weir
