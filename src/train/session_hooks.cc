#include "weir/session_hooks.h"

#include <filesystem>

#include "base/errors.h"
#include "io/file.h"
#include "proto/summary.pb.h"
#include "train/log.h"
#include "train/step_value.h"
#include "weir/global_step.h"
#include "weir/monitored_session.h"

namespace weir::train {
namespace {

constexpr int kStepWarnings = 5;

}  // namespace

SessionRunHook::~SessionRunHook() = default;
CheckpointSaverListener::~CheckpointSaverListener() = default;

SessionSetup::SessionSetup(Graph& graph, Scaffold& scaffold, Log log)
    : graph_(&graph), scaffold_(&scaffold), log_(log_or_stderr(log)) {}

std::shared_ptr<summary::FileWriter> SessionSetup::writer(const std::string& logdir) {
  auto& writer = writers_[std::filesystem::path(logdir).lexically_normal().string()];
  if (!writer) writer = std::make_shared<summary::FileWriter>(logdir);
  return writer;
}

Variable SessionSetup::global_step(std::string_view hook) const {
  Variable step = get_global_step(*graph_);
  if (!step) throw error(Code::FailedPrecondition, "Global step should be created to use {}.", hook);
  return step;
}

SecondOrStepTimer::SecondOrStepTimer(Every every) : every_(every) {
  if (!every.secs && !every.steps) throw invalid_argument("Either every_secs or every_steps should be provided.");
  if (every.secs && every.steps) throw invalid_argument("Can not provide both every_secs and every_steps.");
  if (every.steps && *every.steps <= 0) throw invalid_argument("{} steps is no distance", *every.steps);
}

bool SecondOrStepTimer::should_trigger_for_step(int64_t step) const {
  if (!last_step_) return true;
  if (*last_step_ == step) return false;
  if (every_.secs) return std::chrono::steady_clock::now() >= last_time_ + *every_.secs;
  return step >= *last_step_ + *every_.steps;
}

std::optional<SecondOrStepTimer::Elapsed> SecondOrStepTimer::update_last_triggered_step(int64_t step) {
  const auto now = std::chrono::steady_clock::now();
  std::optional<Elapsed> elapsed;
  if (last_step_) elapsed = {std::chrono::duration<double>(now - last_time_).count(), step - *last_step_};
  last_time_ = now;
  last_step_ = step;
  return elapsed;
}

// StopAtStepHook

StopAtStepHook::StopAtStepHook(StopAtStepOptions options) : options_(options), last_step_(options.last_step) {
  if (!options.num_steps && !options.last_step) {
    throw invalid_argument("One of num_steps or last_step must be specified.");
  }
  if (options.num_steps && options.last_step) {
    throw invalid_argument("Only one of num_steps or last_step can be specified.");
  }
}

void StopAtStepHook::begin(SessionSetup& setup) { global_step_ = setup.global_step("StopAtStepHook"); }

void StopAtStepHook::after_create_session(Session& session, Coordinator& /*coordinator*/) {
  if (!last_step_) last_step_ = step_value(session, global_step_) + *options_.num_steps;
}

SessionRunArgs StopAtStepHook::before_run(SessionRunContext& /*context*/) { return {.fetches = {global_step_}}; }

void StopAtStepHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  // What was fetched is the step before the run, or after it: who is near looks again.
  if (step_value(values.results[0]) + 1 < *last_step_) return;
  if (step_value(context.session(), global_step_) >= *last_step_) context.request_stop();
}

// CheckpointSaverHook

CheckpointSaverHook::CheckpointSaverHook(std::string checkpoint_dir, CheckpointSaverOptions options)
    : directory_(std::move(checkpoint_dir)), options_(std::move(options)), timer_(options_.every) {
  path_ = (std::filesystem::path(directory_) / options_.checkpoint_basename).string();
}

void CheckpointSaverHook::begin(SessionSetup& setup) {
  scaffold_ = &setup.scaffold();
  log_ = setup.log();
  writer_ = setup.writer(directory_);
  global_step_ = setup.global_step("CheckpointSaverHook");
  for (const Listener& listener : options_.listeners) listener->begin();
}

Saver& CheckpointSaverHook::saver() const {
  const std::shared_ptr<Saver>& saver = options_.saver ? options_.saver : scaffold_->saver();
  if (!saver) throw error(Code::FailedPrecondition, "CheckpointSaverHook has no saver: give it one, or its scaffold.");
  return *saver;
}

void CheckpointSaverHook::after_create_session(Session& session, Coordinator& /*coordinator*/) {
  const int64_t step = step_value(session, global_step_);
  const Graph& graph = session.graph();
  io::create_directories(directory_);
  io::write_file_durably((std::filesystem::path(directory_) / "graph.pbtxt").string(), graph.to_graph_def_text());
  writer_->add_graph(graph);
  writer_->add_meta_graph(saver().export_meta_graph());
  save(session, step);
  timer_.update_last_triggered_step(step);
}

SessionRunArgs CheckpointSaverHook::before_run(SessionRunContext& /*context*/) { return {.fetches = {global_step_}}; }

void CheckpointSaverHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  if (!timer_.should_trigger_for_step(step_value(values.results[0]) + 1)) return;
  const int64_t step = step_value(context.session(), global_step_);
  if (!timer_.should_trigger_for_step(step)) return;
  timer_.update_last_triggered_step(step);
  if (save(context.session(), step)) context.request_stop();
}

void CheckpointSaverHook::end(Session& session) {
  const int64_t step = step_value(session, global_step_);
  if (timer_.last_triggered_step() != step) save(session, step);
  for (const Listener& listener : options_.listeners) listener->end(session, step);
}

bool CheckpointSaverHook::save(Session& session, int64_t step) {
  log_(fmt::format("Saving checkpoints for {} into {}.", step, path_));
  for (const Listener& listener : options_.listeners) listener->before_save(session, step);
  saver().save(session, path_, {.global_step = step});
  writer_->add_session_log(summary::SessionStatus::Checkpoint, step, path_);
  bool stop = false;
  for (const Listener& listener : options_.listeners) {
    if (!listener->after_save(session, step)) continue;
    log_("A CheckpointSaverListener requested that training be stopped.");
    stop = true;
  }
  return stop;
}

// StepCounterHook

StepCounterHook::StepCounterHook(StepCounterOptions options) : options_(std::move(options)), timer_(options_.every) {}

void StepCounterHook::begin(SessionSetup& setup) {
  if (!options_.output_dir.empty()) writer_ = setup.writer(options_.output_dir);
  log_ = setup.log();
  global_step_ = setup.global_step("StepCounterHook");
}

SessionRunArgs StepCounterHook::before_run(SessionRunContext& /*context*/) { return {.fetches = {global_step_}}; }

void StepCounterHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const int64_t stale = step_value(values.results[0]);
  if (timer_.should_trigger_for_step(stale + 1)) {
    const int64_t step = step_value(context.session(), global_step_);
    if (timer_.should_trigger_for_step(step)) {
      if (const auto elapsed = timer_.update_last_triggered_step(step); elapsed && elapsed->secs > 0) {
        const double rate = static_cast<double>(elapsed->steps) / elapsed->secs;
        const std::string tag = global_step_.name() + "/sec";
        if (writer_) {
          proto::Summary summary;
          proto::Summary::Value& value = *summary.add_value();
          value.set_tag(tag);
          value.set_simple_value(static_cast<float>(rate));
          writer_->add_summary(summary.SerializeAsString(), step);
        }
        log_(fmt::format("{}: {:g}", tag, rate));
      }
    }
  }
  if (last_step_ == stale && warnings_ < kStepWarnings) {
    ++warnings_;
    log_(
        fmt::format("It seems that the global step has not been increased: it was {} before the run, and is. Give it "
                    "to minimize or apply_gradients.",
                    stale));
  }
  last_step_ = stale;
}

// SummarySaverHook

SummarySaverHook::SummarySaverHook(SummarySaverOptions options) : options_(std::move(options)), timer_(options_.every) {
  if (options_.output_dir.empty()) throw invalid_argument("SummarySaverHook needs an output_dir");
}

void SummarySaverHook::begin(SessionSetup& setup) {
  scaffold_ = &setup.scaffold();
  writer_ = setup.writer(options_.output_dir);
  global_step_ = setup.global_step("SummarySaverHook");
  next_step_.reset();
}

SessionRunArgs SummarySaverHook::before_run(SessionRunContext& /*context*/) {
  requested_ = !next_step_ || timer_.should_trigger_for_step(*next_step_);
  SessionRunArgs args{.fetches = {global_step_}};
  const Output summary = options_.summary_op ? options_.summary_op : scaffold_->summary_op();
  if (requested_ && summary) args.fetches.push_back(summary);
  return args;
}

void SummarySaverHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  int64_t step = step_value(values.results[0]) + 1;
  if (requested_) step = step_value(context.session(), global_step_);
  if (!next_step_) writer_->add_session_log(summary::SessionStatus::Start, step);
  if (requested_) {
    timer_.update_last_triggered_step(step);
    if (values.results.size() > 1) {
      for (const std::string& each : values.results[1].data<std::string>()) writer_->add_summary(each, step);
    }
  }
  next_step_ = step + 1;
}

void SummarySaverHook::end(Session& /*session*/) { writer_->flush(); }

// LoggingTensorHook

LoggingTensorHook::LoggingTensorHook(std::vector<std::pair<std::string, Output>> tensors, LoggingTensorOptions options)
    : options_(std::move(options)) {
  for (auto& [tag, tensor] : tensors) {
    tags_.push_back(std::move(tag));
    tensors_.push_back(tensor);
  }
  if (!options_.at_end || options_.every.steps || options_.every.secs) timer_.emplace(options_.every);
}

void LoggingTensorHook::begin(SessionSetup& setup) {
  log_ = setup.log();
  if (timer_) timer_->reset();
  runs_ = 0;
}

SessionRunArgs LoggingTensorHook::before_run(SessionRunContext& /*context*/) {
  due_ = timer_ && timer_->should_trigger_for_step(runs_);
  return {.fetches = due_ ? tensors_ : std::vector<Output>()};
}

void LoggingTensorHook::after_run(SessionRunContext& /*context*/, const SessionRunValues& values) {
  if (due_) say(values.results);
  ++runs_;
}

void LoggingTensorHook::end(Session& session) {
  if (options_.at_end) say(session.run(tensors_));
}

void LoggingTensorHook::say(std::span<const Tensor> values) {
  std::optional<SecondOrStepTimer::Elapsed> elapsed;
  if (timer_) elapsed = timer_->update_last_triggered_step(runs_);
  if (options_.formatter) return log_(options_.formatter(values));
  std::string text;
  for (size_t i = 0; i < tags_.size(); ++i) {
    std::string value = values[i].str();  // "float32 [] [0.25]"
    value.erase(0, value.find(' ', value.find(' ') + 1) + 1);
    if (values[i].shape().is_scalar()) value = value.substr(1, value.size() - 2);
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", tags_[i], value);
  }
  if (elapsed) text += fmt::format(" ({:.3f} sec)", elapsed->secs);
  log_(text);
}

}  // namespace weir::train
