#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "graph/op.h"
#include "runtime/remote_trace.h"
#include "weir/session.h"

namespace weir {
namespace {

using Event = RunTrace::Event;

// All events of one node: a loop runs its nodes several times.
struct Row {
  const Event* first = nullptr;
  int64_t calls = 0, nanoseconds = 0;
  double flops = 0, bytes = 0;

  void add(const Event& event, int64_t own_nanoseconds) {
    first = first ? first : &event;
    ++calls;
    nanoseconds += own_nanoseconds;
    flops += event.flops;
    bytes += static_cast<double>(event.input_bytes + event.output_bytes);
  }

  // Operations a second where arithmetic is what a kernel is about, else bytes a second. None where the clock is too
  // coarse for a figure that means something.
  std::string rate() const {
    const auto ns = static_cast<double>(nanoseconds);
    if (flops > 0 && ns > 0) return fmt::format("{:.1f} GFLOP/s", flops / ns);
    return bytes > 0 && ns >= 1000 ? fmt::format("{:.1f} GB/s", bytes / ns) : "";
  }
};

// What a device did with its time.
struct Lane {
  int64_t kernels = 0, copies = 0;
};

double percent(int64_t part, int64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
}

// The time of each event without that of the events inside it: those of a loop's body lie inside the loop's.
std::vector<int64_t> own_times(const std::vector<Event>& events) {
  std::vector<int64_t> own(events.size());
  std::map<int, std::vector<size_t>> lanes;
  for (size_t i = 0; i < events.size(); ++i) {
    own[i] = events[i].end_ns - events[i].start_ns;
    lanes[events[i].thread].push_back(i);
  }
  for (auto& [thread, order] : lanes) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(events[a].start_ns, -events[a].end_ns) < std::pair(events[b].start_ns, -events[b].end_ns);
    });
    std::vector<size_t> open;
    for (size_t i : order) {
      while (!open.empty() && events[open.back()].end_ns <= events[i].start_ns) open.pop_back();
      if (!open.empty()) own[open.back()] -= events[i].end_ns - events[i].start_ns;
      open.push_back(i);
    }
  }
  return own;
}

}  // namespace

std::string RunTrace::table() const {
  if (!remote_stats.empty()) return trace_from_stats(remote_stats).table();
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Row> by_node;
  std::map<std::string_view, Lane> devices;
  int64_t begin = events.empty() ? 0 : events[0].start_ns, end = begin, busy = 0;
  const std::vector<int64_t> own = own_times(events);
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    by_node[{event.device, event.node, event.op}].add(event, own[i]);
    Lane& lane = devices[event.device];
    const Op* op = find_op(event.op);
    (op && op->role == Role::Copy ? lane.copies : lane.kernels) += own[i];
    begin = std::min(begin, event.start_ns);
    end = std::max(end, event.end_ns);
    busy += own[i];
  }
  std::vector<Row> rows;
  size_t kernel_width = 6;
  for (const auto& [key, row] : by_node) {
    rows.push_back(row);
    kernel_width = std::max(kernel_width, row.first->op.size());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.nanoseconds > b.nanoseconds; });

  std::string text =
      fmt::format("{:>12}  {:>6}  {:>15}  {:<{}}  node\n", "time", "share", "rate", "kernel", kernel_width);
  for (const Row& row : rows) {
    text += fmt::format("{:>9.1f} us  {:>5.1f}%  {:>15}  {:<{}}  {}", static_cast<double>(row.nanoseconds) / 1e3,
                        percent(row.nanoseconds, busy), row.rate(), row.first->op, kernel_width, row.first->node);
    if (row.calls > 1) text += fmt::format(" ({} times)", row.calls);
    if (devices.size() > 1) text += fmt::format(" on {}", row.first->device);
    text += '\n';
  }
  text += fmt::format("{:>9.1f} us in {} kernels, {:.1f} us from the first to the last; arena {:.1f} MB\n",
                      static_cast<double>(busy) / 1e3, events.size(), static_cast<double>(end - begin) / 1e3,
                      static_cast<double>(arena_bytes) / 1e6);
  if (devices.size() < 2) return text;
  for (const auto& [device, lane] : devices) {
    text += fmt::format("{}: {:.1f}% kernels, {:.1f}% copies, {:.1f}% waiting\n", device,
                        percent(lane.kernels, end - begin), percent(lane.copies, end - begin),
                        percent(end - begin - lane.kernels - lane.copies, end - begin));
  }
  return text;
}

}  // namespace weir
