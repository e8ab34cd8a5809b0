#include "training.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

namespace weir::examples {

void Training::begin(const Parts& parts) {
  saver_ = std::make_unique<train::Saver>(graph_);
  const Operation initialize = graph_.global_variables_initializer();
  session_ = std::make_unique<Session>(graph_, options_.session);
  step_call_ = session_->make_callable({.feeds = parts.feeds, .fetches = {parts.loss}, .targets = {parts.train}});
  summary_call_ =
      session_->make_callable({.feeds = parts.feeds, .fetches = {parts.loss, parts.summary}, .targets = {parts.train}});
  feeds_.resize(parts.feeds.size());
  results_.resize(2);

  const std::string& folder = options_.train_dir;
  const auto checkpoint = folder.empty() ? std::nullopt : train::latest_checkpoint(folder);
  if (checkpoint) {
    saver_->restore(*session_, *checkpoint);
    if (auto state = train::get_checkpoint_state(folder)) {
      saver_->recover_last_checkpoints(state->all_model_checkpoint_paths);
    }
    step_ = saved_step_ = session_->run(parts.global_step).scalar<int64_t>();
  } else {
    session_->run(initialize);
  }
  for (const Operation& start : parts.start) session_->run(start);
  if (!folder.empty()) events_ = std::make_unique<summary::FileWriter>(folder, graph_);
}

float Training::run_step() {
  next_batch(feeds_);
  const bool with_summary = events_ && step_ % options_.summary_every == 0;
  if (with_summary) {
    summary_call_->call(feeds_, results_);
    events_->add(results_[1], step_);
  } else {
    step_call_->call(feeds_, {results_.data(), 1});
  }
  const float loss = results_[0].scalar<float>();
  if (!std::isfinite(loss)) {
    throw Error(Code::Aborted, fmt::format("the model diverged: the loss of step {} is {}", step_, loss));
  }
  ++step_;
  if (step_ % options_.checkpoint_every == 0) save();
  return loss;
}

std::string Training::save() {
  if (options_.train_dir.empty()) return {};
  if (saved_step_ == step_) return train::latest_checkpoint(options_.train_dir).value_or("");
  events_->flush();
  saved_step_ = step_;
  return saver_->save(*session_, (std::filesystem::path(options_.train_dir) / "model.ckpt").string(),
                      {.global_step = step_});
}

}  // namespace weir::examples
