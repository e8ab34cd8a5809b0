#include "weir/records.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "command.h"
#include "weir/error.h"
#include "weir/summary.h"

namespace weir::tool {
namespace {

constexpr size_t kMostShown = 6;  // values of a feature

std::string escaped(std::string_view bytes) {
  std::string text;
  for (char c : bytes) {
    if (c == '\\') {
      text += "\\\\";
    } else if (c >= 0x20 && c < 0x7f) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

// Files do not say how they are packed: the first bytes of gzip and zlib streams do.
Compression compression_of(const std::string& path) {
  try {
    std::string record;
    RecordReader(path).next(record);
    return Compression::None;
  } catch (const Error& e) {
    if (e.code() != Code::DataLoss) throw;
  }
  unsigned char first[2] = {};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(first), 2);
  if (first[0] == 0x1f && first[1] == 0x8b) return Compression::Gzip;
  if (first[0] == 0x78 && (first[0] * 256 + first[1]) % 31 == 0) return Compression::Zlib;
  return Compression::None;
}

template <class T>
std::string list(std::string_view kind, const std::vector<T>& values) {
  std::string text = fmt::format("{}[{}]", kind, values.size());
  for (size_t i = 0; i < std::min(values.size(), kMostShown); ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      text += fmt::format("{}{} bytes", i ? ", " : " ", values[i].size());
    } else {
      text += fmt::format(" {}", values[i]);
    }
  }
  return values.size() > kMostShown ? text + " ..." : text;
}

struct DescribeFeature {
  std::string operator()(std::monostate) const { return "empty"; }
  std::string operator()(const Example::Bytes& values) const { return list("bytes", values); }
  std::string operator()(const Example::Floats& values) const { return list("floats", values); }
  std::string operator()(const Example::Ints& values) const { return list("ints", values); }
};

void print_example(const std::string& record) {
  Example example;
  try {
    example = Example::parse(record);
  } catch (const Error&) {
    return;  // a record may hold anything
  }
  for (const auto& [name, feature] : example.features()) {
    fmt::print("    {}: {}\n", escaped(name), std::visit(DescribeFeature{}, feature));
  }
}

std::string time_text(double seconds) {
  // What a damaged file holds may be no time.
  if (!(seconds >= 0 && seconds < 253402300800.0)) return fmt::format("{} s", seconds);
  const double whole = std::floor(seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}", fmt::gmtime(static_cast<std::time_t>(whole)),
                     static_cast<int>((seconds - whole) * 1000));
}

void print_event(const std::string& record) {
  const summary::Event event = summary::Event::parse(record);
  fmt::print("    step {}  {}  {} {}\n", event.step, time_text(event.wall_time), event.kind, escaped(event.text));
  for (const summary::Event::Value& value : event.values) {
    fmt::print("    {}: {} {}\n", escaped(value.tag), value.kind, escaped(value.text));
  }
}

bool begins_event_file(const std::string& record) {
  try {
    return summary::Event::parse(record).text.starts_with("brain.Event:");
  } catch (const Error&) {
    return false;
  }
}

int64_t number(const std::string& text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0) {
    throw UsageError(fmt::format("'{}' is no number of records", text));
  }
  return value;
}

int run(std::span<const std::string> words) {
  const Arguments arguments = parse_arguments(words, {"--limit"}, {"--raw"});
  if (arguments.positional.size() != 1) throw UsageError("exactly one file is wanted");
  const int64_t limit =
      arguments.has("--limit") ? number(*arguments.value("--limit")) : std::numeric_limits<int64_t>::max();
  const std::string& path = arguments.positional[0];
  RecordReader reader(path, compression_of(path));
  std::string record;
  bool events = false;
  int64_t count = 0;
  size_t bytes = 0;
  for (; count < limit; ++count) {
    const int64_t offset = reader.offset();
    if (!reader.next(record)) {
      fmt::print("{} records, {} bytes\n", count, bytes);
      return 0;
    }
    if (count == 0) events = begins_event_file(record);
    bytes += record.size();
    fmt::print("{}: {} bytes at {}\n", count, record.size(), offset);
    if (arguments.has("--raw")) {
      fmt::print("    {}\n", escaped(record));
    } else if (events) {
      print_event(record);
    } else {
      print_example(record);
    }
  }
  return 0;
}

}  // namespace

const Command kRecords = {
    .name = "records",
    .usage = "FILE [--limit N] [--raw]",
    .summary = "Lists a record file: examples, events of TensorBoard, or anything else",
    .help =
        "Prints the number, size and place of each record; of examples the features with their kinds and first "
        "values,\n"
        "of events the step, the time (UTC), the tags and the values. Files packed by gzip or zlib are recognised.\n"
        "A file that is damaged or cut short is listed up to that place, and the exit code is 1.\n\n"
        "  --limit N   the first N records\n"
        "  --raw       their bytes instead of their meaning\n\n"
        "  weir records train.tfrecord --limit 3\n"
        "  weir records runs/linear/events.out.tfevents.1700000000.host\n",
    .run = run};

}  // namespace weir::tool
