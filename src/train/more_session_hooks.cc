#include <cmath>
#include <filesystem>
#include <thread>

#include "base/errors.h"
#include "io/file.h"
#include "proto/config.pb.h"
#include "train/log.h"
#include "train/step_value.h"
#include "weir/global_step.h"
#include "weir/session_hooks.h"

namespace weir::train {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};
constexpr std::chrono::milliseconds kBetweenInterrupts{50};
constexpr int64_t kStepsBetweenLines = 1000;

bool has_nan(const Tensor& t) {
  if (t.dtype() == DType::Float64) {
    for (double value : t.data<double>()) {
      if (std::isnan(value)) return true;
    }
  } else if (t.dtype() == DType::Float32) {
    for (float value : t.data<float>()) {
      if (std::isnan(value)) return true;
    }
  } else {
    throw invalid_argument("NanTensorHook watches float and double losses, not {}", dtype_name(t.dtype()));
  }
  return false;
}

}  // namespace

void NanTensorHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  if (!has_nan(values.results[0])) return;
  log_("Model diverged with loss = NaN.");
  if (options_.fail_on_nan_loss) {
    throw Error(Code::InvalidArgument, "NaN loss during training.", loss_.op().type(), loss_.op().name(),
                loss_.op().line());
  }
  context.request_stop();
}

void FinalOpsHook::end(Session& session) { values_ = session.run(ops_.fetches, ops_.feeds, ops_.targets); }

void GlobalStepWaiterHook::begin(SessionSetup& setup) {
  global_step_ = setup.global_step("GlobalStepWaiterHook");
  log_ = setup.log();
  started_ = wait_until_step_ <= 0;
}

SessionRunArgs GlobalStepWaiterHook::before_run(SessionRunContext& context) {
  if (started_) return {};
  log_(fmt::format("Waiting for global step {} before starting training.", wait_until_step_));
  int64_t logged = 0;
  while (!context.interrupted()) {
    const int64_t step = step_value(context.session(), global_step_);
    if (step >= wait_until_step_) break;
    if (step - logged > kStepsBetweenLines) {
      log_(fmt::format("Waiting for global step {} before starting training. Current step is {}.", wait_until_step_,
                       step));
      logged = step;
    }
    for (auto waited = kBetweenInterrupts; waited <= kBetweenLooks && !context.interrupted();
         waited += kBetweenInterrupts) {
      std::this_thread::sleep_for(kBetweenInterrupts);
    }
  }
  started_ = true;
  return {};
}

ProfilerHook::ProfilerHook(ProfilerOptions options) : options_(std::move(options)), timer_(options_.every) {}

void ProfilerHook::begin(SessionSetup& setup) {
  global_step_ = setup.global_step("ProfilerHook");
  writer_ = setup.writer(options_.output_dir);
  next_step_.reset();
}

SessionRunArgs ProfilerHook::before_run(SessionRunContext& /*context*/) {
  requested_ = next_step_ && timer_.should_trigger_for_step(*next_step_);
  return {.fetches = {global_step_}, .trace = requested_};
}

void ProfilerHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const int64_t stale = step_value(values.results[0]);
  if (!next_step_) timer_.update_last_triggered_step(stale);  // the first runs are not like others
  int64_t step = stale + 1;
  if (requested_ && values.trace) {
    step = step_value(context.session(), global_step_);
    timer_.update_last_triggered_step(step);
    const auto file = std::filesystem::path(options_.output_dir) / fmt::format("timeline-{}.json", step);
    io::write_file_durably(file.string(), values.trace->chrome_trace());
    proto::RunMetadata metadata;
    metadata.mutable_step_stats()->ParseFromString(values.trace->step_stats());
    writer_->add_run_metadata(metadata.SerializeAsString(), fmt::format("step_{}", step), step);
  }
  next_step_ = step + 1;
}

}  // namespace weir::train
