#include <algorithm>
#include <chrono>

#include "base/errors.h"
#include "proto/step_stats.pb.h"
#include "runtime/device_times.h"
#include "runtime/plan.h"
#include "runtime/remote_trace.h"
#include "runtime/step_work.h"

namespace weir {
namespace {

std::string json_string(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", c);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

Tracer start_trace(RunTrace& trace, size_t arena_bytes) {
  trace = {};
  trace.arena_bytes = static_cast<int64_t>(arena_bytes);
  trace.wall_start_us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  return {trace, std::chrono::steady_clock::now()};
}

RunTrace::Event Plan::trace_event(const Step& step) const {
  RunTrace::Event event;
  event.node = step.name;
  event.op = step.op->name;
  event.device = environment_.devices[step.device].short_name();
  event.thread = step.device;  // a device's steps follow each other on one lane
  return event;
}

void Plan::run_traced(const Step& step, Frame& frame, char* arena, const RunControl& control, Tracer& tracer,
                      DeviceTimes& times) const {
  using Clock = std::chrono::steady_clock;
  if (step.kind == Step::Kind::Waiting) {  // noted when it has ended
    run_step(step, frame, arena, control, &tracer);
    return;
  }
  RunTrace::Event event = trace_event(step);
  void* begin = times.moment();
  event.start_ns = tracer.since_begin(Clock::now());
  run_step(step, frame, arena, control, &tracer);
  event.end_ns = tracer.since_begin(Clock::now());
  void* end = times.moment();
  count_work(step, frame.slots.data(), event);
  times.add(std::move(event), begin, end);
}

std::string RunTrace::step_stats() const {
  if (!remote_stats.empty()) return remote_stats;
  proto::StepStats stats;
  std::map<std::string, proto::DeviceStepStats*> devices;
  auto stats_of = [&](const std::string& name) {
    proto::DeviceStepStats*& device = devices[name];
    if (!device) {
      device = stats.add_dev_stats();
      device->set_device("/job:localhost/replica:0/task:0" + name);
    }
    return device;
  };
  if (events.empty()) stats_of("/device:CPU:0");  // a run that has nothing to compute runs somewhere, too
  for (const Event& event : events) {
    proto::NodeExecStats* node = stats_of(event.device)->add_node_stats();
    node->set_node_name(event.node);
    node->set_all_start_micros(wall_start_us + event.start_ns / 1000);
    node->set_op_end_rel_micros((event.end_ns - event.start_ns) / 1000);
    node->set_all_end_rel_micros((event.end_ns - event.start_ns) / 1000);
    node->set_timeline_label(event.node + " = " + event.op + "()");
    node->set_thread_id(static_cast<uint32_t>(event.thread));
    proto::AllocatorMemoryUsed* memory = node->add_memory();
    memory->set_allocator_name(event.device.find("GPU") == std::string::npos ? "cpu" : "gpu");
    memory->set_total_bytes(event.output_bytes);
    memory->set_peak_bytes(event.output_bytes);
  }
  return stats.SerializeAsString();
}

std::string RunTrace::chrome_trace() const {
  if (!remote_stats.empty()) return trace_from_stats(remote_stats).chrome_trace();
  std::string json = "{\"traceEvents\":[";
  std::map<int, std::string> lanes;
  for (const Event& e : events) lanes.emplace(e.thread, e.device);
  for (const auto& [lane, device] : lanes) {
    json += fmt::format(R"({{"ph":"M","name":"thread_name","pid":0,"tid":{},"args":{{"name":{}}}}},)", lane,
                        json_string(device)) +
            "\n";
  }
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    if (i) json += ",\n";
    json += fmt::format(
        R"({{"ph":"X","cat":"Op","name":{},"pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"name":{},"device":{},"output_bytes":{}}}}})",
        json_string(e.op), e.thread, static_cast<double>(wall_start_us) + static_cast<double>(e.start_ns) / 1e3,
        static_cast<double>(e.end_ns - e.start_ns) / 1e3, json_string(e.node), json_string(e.device), e.output_bytes);
  }
  return json + "]}\n";
}

}  // namespace weir
