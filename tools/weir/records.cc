#include "weir/records.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "command.h"
#include "weir/error.h"
#include "weir/summary.h"

namespace weir::tool {
namespace {

constexpr size_t kMostShown = 6;  // values of a feature
constexpr size_t kMostSteps = 3;  // of a list of features

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

std::string description(const Example::Feature& feature) { return std::visit(DescribeFeature{}, feature); }

// The kind and the sizes of the features of a list, and the first of them.
std::string description(const SequenceExample::FeatureList& steps) {
  std::string text = fmt::format("{} {}", steps.size(), steps.size() == 1 ? "step" : "steps");
  for (size_t i = 0; i < std::min(steps.size(), kMostSteps); ++i) {
    text += (i ? " | " : ": ") + description(steps[i]);
  }
  return steps.size() > kMostSteps ? text + " | ..." : text;
}

std::optional<SequenceExample> as_example(const std::string& record) {
  try {
    return SequenceExample::parse(record);  // an Example is one without lists
  } catch (const Error&) {
    return std::nullopt;  // a record may hold anything
  }
}

void print_example(const SequenceExample& example) {
  for (const auto& [name, feature] : example.context.features()) {
    fmt::print("    {}: {}\n", escaped(name), description(feature));
  }
  for (const auto& [name, steps] : example.feature_lists) {
    fmt::print("    {}: {}\n", escaped(name), description(steps));
  }
}

// What all examples of a file have together.
class Summary {
 public:
  void add(const SequenceExample& example) {
    for (const auto& [name, feature] : example.context.features()) {
      ++rows_[name].examples;
      rows_[name].add(feature);
    }
    for (const auto& [name, steps] : example.feature_lists) {
      Row& row = rows_[name];
      ++row.examples;
      row.steps.add(steps.size());
      for (const auto& step : steps) row.add(step);
    }
  }
  void print() const {
    for (const auto& [name, row] : rows_) {
      fmt::print("{}: {}[{}]{} in {} records\n", escaped(name), row.kind, row.values.text(),
                 row.steps.any ? fmt::format(" in {} steps", row.steps.text()) : "", row.examples);
    }
  }

 private:
  struct Range {
    bool any = false;
    size_t least = 0, most = 0;
    void add(size_t value) {
      least = any ? std::min(least, value) : value;
      most = any ? std::max(most, value) : value;
      any = true;
    }
    std::string text() const { return least == most ? fmt::format("{}", least) : fmt::format("{}..{}", least, most); }
  };
  struct Row {
    std::string kind = "empty";
    int64_t examples = 0;
    Range values = {}, steps = {};
    void add(const Example::Feature& feature) {
      static constexpr std::string_view kKinds[] = {"empty", "bytes", "floats", "ints"};
      const std::string_view found = kKinds[feature.index()];
      kind = kind == "empty" || kind == found ? found : "mixed";
      values.add(std::visit(Size{}, feature));
    }
  };
  struct Size {
    size_t operator()(std::monostate) const { return 0; }
    template <class List>
    size_t operator()(const List& list) const {
      return list.size();
    }
  };
  std::map<std::string, Row> rows_;
};

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
  const Arguments arguments = parse_arguments(words, {"--limit"}, {"--raw", "--summary"});
  if (arguments.positional.size() != 1) throw UsageError("exactly one file is wanted");
  const int64_t limit =
      arguments.has("--limit") ? number(*arguments.value("--limit")) : std::numeric_limits<int64_t>::max();
  const std::string& path = arguments.positional[0];
  RecordReader reader(path, compression_of(path));
  std::string record;
  bool events = false;
  Summary summary;
  int64_t count = 0;
  size_t bytes = 0;
  for (; count < limit; ++count) {
    const int64_t offset = reader.offset();
    if (!reader.next(record)) break;
    if (count == 0) events = begins_event_file(record);
    bytes += record.size();
    if (arguments.has("--summary")) {
      if (const auto example = as_example(record)) summary.add(*example);
      continue;
    }
    fmt::print("{}: {} bytes at {}\n", count, record.size(), offset);
    if (arguments.has("--raw")) {
      fmt::print("    {}\n", escaped(record));
    } else if (events) {
      print_event(record);
    } else if (const auto example = as_example(record)) {
      print_example(*example);
    }
  }
  if (arguments.has("--summary")) summary.print();
  if (count < limit || arguments.has("--summary")) fmt::print("{} records, {} bytes\n", count, bytes);
  return 0;
}

}  // namespace

const Command kRecords = {
    .name = "records",
    .usage = "FILE [--limit N] [--raw] [--summary]",
    .summary = "Lists a record file: examples, events of TensorBoard, or anything else",
    .help =
        "Prints the number, size and place of each record; of examples the features with their kinds, sizes and first\n"
        "values, of sequence examples the steps too,\n"
        "of events the step, the time (UTC), the tags and the values. Files packed by gzip or zlib are recognised.\n"
        "A file that is damaged or cut short is listed up to that place, and the exit code is 1.\n\n"
        "  --limit N   the first N records\n"
        "  --raw       their bytes instead of their meaning\n"
        "  --summary   only which features the examples have, of what kinds and sizes, and in how many records\n\n"
        "  weir records train.tfrecord --limit 3\n"
        "  weir records runs/linear/events.out.tfevents.1700000000.host\n",
    .run = run};

}  // namespace weir::tool
