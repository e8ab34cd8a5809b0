#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "weir/session.h"

namespace weir {
namespace {

// All events of one node: a loop runs its nodes several times.
struct Row {
  const RunTrace::Event* first = nullptr;
  int64_t calls = 0, nanoseconds = 0;
  double flops = 0, bytes = 0;

  void add(const RunTrace::Event& event) {
    first = first ? first : &event;
    ++calls;
    nanoseconds += event.end_ns - event.start_ns;
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

}  // namespace

std::string RunTrace::table() const {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Row> by_node;
  std::set<std::string_view> devices;
  int64_t begin = events.empty() ? 0 : events[0].start_ns, end = begin, busy = 0;
  for (const Event& event : events) {
    by_node[{event.device, event.node, event.op}].add(event);
    devices.insert(event.device);
    begin = std::min(begin, event.start_ns);
    end = std::max(end, event.end_ns);
    busy += event.end_ns - event.start_ns;
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
                        100.0 * static_cast<double>(row.nanoseconds) / static_cast<double>(std::max<int64_t>(busy, 1)),
                        row.rate(), row.first->op, kernel_width, row.first->node);
    if (row.calls > 1) text += fmt::format(" ({} times)", row.calls);
    if (devices.size() > 1) text += fmt::format(" on {}", row.first->device);
    text += '\n';
  }
  text += fmt::format("{:>9.1f} us in {} kernels, {:.1f} us from the first to the last; arena {:.1f} MB\n",
                      static_cast<double>(busy) / 1e3, events.size(), static_cast<double>(end - begin) / 1e3,
                      static_cast<double>(arena_bytes) / 1e6);
  return text;
}

}  // namespace weir
