#include <algorithm>
#include <cctype>

#include "base/errors.h"
#include "weir/device.h"

namespace weir {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

int number(std::string_view text, std::string_view whole) {
  constexpr size_t kMaxDigits = 9;
  bool digits = !text.empty() && text.size() <= kMaxDigits &&
                std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) throw invalid_argument("invalid literal for int: '{}' in the device name '{}'", text, whole);
  return std::stoi(std::string(text));
}

std::optional<int> index_number(std::string_view text, std::string_view whole) {
  return text == "*" ? std::nullopt : std::optional(number(text, whole));
}

// "cpu" and "gpu" may be written small; other types are as they are.
std::string canonical_type(std::string_view type) {
  std::string big = upper(type);
  return big == "CPU" || big == "GPU" ? big : std::string(type);
}

template <class T>
bool agrees(const std::optional<T>& wanted, const std::optional<T>& given) {
  return !wanted || wanted == given;
}

}  // namespace

DeviceSpec DeviceSpec::parse(std::string_view text) {
  DeviceSpec spec;
  auto set_type = [&](std::string_view word) {
    if (spec.type) throw invalid_argument("Cannot specify multiple device types: {}", text);
    spec.type = canonical_type(word);
  };
  for (std::string_view part : split(text, '/')) {
    if (part.empty()) continue;
    std::vector<std::string_view> words = split(part, ':');
    std::string_view key = words[0];
    const bool pair = words.size() == 2;
    if (pair && key == "job") {
      spec.job = std::string(words[1]);
    } else if (pair && key == "replica") {
      spec.replica = number(words[1], text);
    } else if (pair && key == "task") {
      spec.task = number(words[1], text);
    } else if (words.size() == 3 && key == "device" && !words[1].empty()) {
      set_type(words[1]);
      spec.index = index_number(words[2], text);
    } else if (words.size() <= 2 && (upper(key) == "CPU" || upper(key) == "GPU")) {
      set_type(key);
      spec.index = pair ? index_number(words[1], text) : std::nullopt;
    } else {
      throw invalid_argument("Unknown attribute: '{}' in '{}'", key, text);
    }
  }
  return spec;
}

std::string DeviceSpec::str() const {
  std::string text;
  if (job) text += "/job:" + *job;
  if (replica) text += "/replica:" + std::to_string(*replica);
  if (task) text += "/task:" + std::to_string(*task);
  if (type) text += "/device:" + *type + ":" + (index ? std::to_string(*index) : "*");
  return text;
}

DeviceSpec DeviceSpec::merged_into(const DeviceSpec& outer) const {
  DeviceSpec merged = *this;
  if (!merged.job) merged.job = outer.job;
  if (!merged.replica) merged.replica = outer.replica;
  if (!merged.task) merged.task = outer.task;
  if (!merged.type) merged.type = outer.type;
  if (!merged.index) merged.index = outer.index;
  return merged;
}

bool DeviceSpec::matches(const DeviceSpec& device) const {
  return agrees(job, device.job) && agrees(replica, device.replica) && agrees(task, device.task) &&
         agrees(type, device.type) && agrees(index, device.index);
}

}  // namespace weir
