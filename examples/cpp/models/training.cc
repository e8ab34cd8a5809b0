#include "training.h"

#include <filesystem>

namespace weir::examples {

void Training::begin(const Parts& parts) {
  parts_ = parts;
  feeds_.resize(parts.feeds.size());
  // What begins the input runs in every session, whether training begins or goes on.
  std::vector<Operation> start = parts.start;
  start.push_back(local_variables_initializer(graph_));
  session_ = std::make_unique<train::MonitoredTrainingSession>(
      graph_, train::MonitoredTrainingSessionOptions{
                  .checkpoint_dir = options_.train_dir,
                  .scaffold = {.local_init_op = graph_.group(start), .summary_op = parts.summary},
                  .hooks = {train::NanTensorHook(parts.loss)},
                  .save_checkpoints = {.steps = options_.checkpoint_every},
                  .save_summaries = {.steps = options_.summary_every},
                  .session = options_.session,
                  .log = [](std::string_view) {}});
  step_ = saved_step_ = session_->session().run(parts.global_step).scalar<int64_t>();
}

float Training::run_step() {
  std::vector<Tensor> values(feeds_.size());
  next_batch(values);
  for (size_t i = 0; i < values.size(); ++i) feeds_[i] = {parts_.feeds[i], values[i]};
  const Tensor loss = session_->run(parts_.loss, feeds_, {parts_.train});
  ++step_;
  return loss.scalar<float>();
}

std::string Training::save() {
  const std::string& folder = options_.train_dir;
  if (folder.empty()) return {};
  if (saved_step_ != step_) {
    session_->writer(folder)->flush();
    saved_step_ = step_;
    session_->scaffold().saver()->save(session_->session(), (std::filesystem::path(folder) / "model.ckpt").string(),
                                       {.global_step = step_});
  }
  return train::latest_checkpoint(folder).value_or("");
}

}  // namespace weir::examples
