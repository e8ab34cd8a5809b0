#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/errors.h"
#include "weir/collectives.h"

namespace weir::distributed {
namespace {

std::optional<std::string> of_process(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

class Environment {
 public:
  explicit Environment(const Lookup& lookup) : lookup_(lookup ? lookup : Lookup(of_process)) {}
  std::optional<std::string> text(const std::string& name) const {
    std::optional<std::string> value = lookup_(name);
    return value && value->empty() ? std::nullopt : value;
  }
  bool has(const std::string& name) const { return text(name).has_value(); }
  std::optional<int64_t> number(const std::string& name) const {
    const std::optional<std::string> value = text(name);
    if (!value) return std::nullopt;
    int64_t result = 0;
    const auto [end, code] = std::from_chars(value->data(), value->data() + value->size(), result);
    if (code != std::errc() || end != value->data() + value->size() || result < 0) {
      throw invalid_argument("the environment variable {} should be a number, and is '{}'", name, *value);
    }
    return result;
  }

 private:
  Lookup lookup_;
};

using Json = google::protobuf::Value;

const Json* field(const Json& value, const std::string& name) {
  if (!value.has_struct_value()) return nullptr;
  const auto& fields = value.struct_value().fields();
  auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

// TF_CONFIG: {"cluster": {"worker": ["host:port", ...], ...}, "task": {"type": "worker", "index": 0}}
std::optional<ClusterPlace> from_tf_config(const Environment& environment) {
  const std::optional<std::string> text = environment.text("TF_CONFIG");
  if (!text) return std::nullopt;
  Json config;
  if (const auto status = google::protobuf::util::JsonStringToMessage(*text, &config); !status.ok()) {
    throw invalid_argument("TF_CONFIG is no JSON: {}", status.ToString());
  }
  ClusterPlace place;
  const Json* cluster = field(config, "cluster");
  if (!cluster || !cluster->has_struct_value()) return std::nullopt;
  for (const auto& [job, tasks] : cluster->struct_value().fields()) {
    std::vector<std::string>& addresses = place.jobs[job];
    if (!tasks.has_list_value()) throw invalid_argument("TF_CONFIG: the job '{}' should be a list of addresses", job);
    for (const Json& address : tasks.list_value().values()) addresses.push_back(address.string_value());
  }
  if (const Json* task = field(config, "task")) {
    if (const Json* type = field(*task, "type")) place.job = type->string_value();
    if (const Json* index = field(*task, "index")) {
      place.task = index->has_string_value() ? std::atoi(index->string_value().c_str())
                                             : static_cast<int>(index->number_value());
    }
  }
  if (place.jobs.empty()) return std::nullopt;
  if (auto job = place.jobs.find(place.job); job != place.jobs.end()) {
    if (place.task < 0 || place.task >= static_cast<int>(job->second.size())) {
      throw invalid_argument("TF_CONFIG: the job '{}' has {} tasks, none of them {}", place.job, job->second.size(),
                             place.task);
    }
  }
  return place;
}

// Those that train: the chief, then the workers. Nothing for parameter servers and evaluators.
std::optional<Options> ranks_of(const ClusterPlace& place) {
  std::vector<std::string> addresses;
  std::optional<int> rank;
  for (const char* job : {"chief", "master", "worker"}) {
    auto found = place.jobs.find(job);
    if (found == place.jobs.end()) continue;
    if (place.job == job) rank = static_cast<int>(addresses.size()) + place.task;
    addresses.insert(addresses.end(), found->second.begin(), found->second.end());
  }
  if (!rank || addresses.size() < 2) return std::nullopt;
  return Options{
      .transport = "gloo", .rank = *rank, .size = static_cast<int>(addresses.size()), .rendezvous = addresses[0]};
}

// "a[01-03,7],b" of Slurm as a01, a02, a03, a7, b.
std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  auto bad = [&] { return invalid_argument("'{}' is no list of hosts as Slurm writes them", list); };
  size_t at = 0;
  while (at < list.size()) {
    size_t end = at;
    for (int depth = 0; end < list.size() && (list[end] != ',' || depth > 0); ++end) {
      depth += list[end] == '[' ? 1 : list[end] == ']' ? -1 : 0;
    }
    const std::string_view item = list.substr(at, end - at);
    at = end + 1;
    const size_t open = item.find('['), close = item.find(']');
    if (open == std::string_view::npos) {
      hosts.emplace_back(item);
      continue;
    }
    if (close == std::string_view::npos || close < open) throw bad();
    const std::string before(item.substr(0, open)), after(item.substr(close + 1));
    std::string_view ranges = item.substr(open + 1, close - open - 1);
    while (!ranges.empty()) {
      const std::string_view range = ranges.substr(0, ranges.find(','));
      ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
      const std::string_view first = range.substr(0, range.find('-'));
      const std::string_view last = range.size() > first.size() ? range.substr(first.size() + 1) : first;
      int from = 0, to = 0;
      const bool numbers = std::from_chars(first.data(), first.data() + first.size(), from).ec == std::errc() &&
                           std::from_chars(last.data(), last.data() + last.size(), to).ec == std::errc();
      if (!numbers || to < from || to - from > 65536) throw bad();
      for (int i = from; i <= to; ++i) hosts.push_back(fmt::format("{}{:0{}}{}", before, i, first.size(), after));
    }
  }
  if (hosts.empty()) throw bad();
  return hosts;
}

// "2(x3),1" of Slurm as 2, 2, 2, 1.
std::vector<int> expand_counts(std::string_view list) {
  std::vector<int> counts;
  while (!list.empty()) {
    const std::string item(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const size_t times = item.find("(x");
    const int repeat = times == std::string::npos ? 1 : std::atoi(item.c_str() + times + 2);
    if (std::atoi(item.c_str()) <= 0 || repeat <= 0 || repeat > 65536) {
      throw invalid_argument("'{}' is no list of tasks as Slurm writes them", item);
    }
    counts.insert(counts.end(), static_cast<size_t>(repeat), std::atoi(item.c_str()));
  }
  return counts;
}

// Of a step that srun has started; a batch script itself is no task.
std::optional<Options> from_slurm(const Environment& environment) {
  const std::optional<int64_t> size = environment.number("SLURM_STEP_NUM_TASKS"),
                               rank = environment.number("SLURM_PROCID");
  if (!size || !rank || *size < 2) return std::nullopt;
  const std::vector<std::string> hosts = expand_hosts(
      environment.text("SLURM_STEP_NODELIST").value_or(environment.text("SLURM_NODELIST").value_or("localhost")));
  // A port of its own for each step of each job, so that two on one machine do not meet.
  const int64_t job = environment.number("SLURM_JOB_ID").value_or(0),
                step = environment.number("SLURM_STEP_ID").value_or(0);
  return Options{.transport = "gloo",
                 .rank = static_cast<int>(*rank),
                 .size = static_cast<int>(*size),
                 .rendezvous = fmt::format("{}:{}", hosts[0], 20000 + (job * 16 + step) % 12000)};
}

}  // namespace

Options from_environment(const Lookup& lookup) {
  const Environment environment(lookup);
  Options options;
  const bool by_mpi =
      environment.has("OMPI_COMM_WORLD_SIZE") || environment.has("PMIX_RANK") || environment.has("PMI_SIZE");
  if (environment.has("WEIR_RANK") || environment.has("WEIR_SIZE")) {
    options.rank = static_cast<int>(environment.number("WEIR_RANK").value_or(0));
    options.size = static_cast<int>(environment.number("WEIR_SIZE").value_or(1));
    options.transport = options.size > 1 ? "gloo" : "alone";
  } else if (by_mpi) {
    options.transport = "mpi";
    options.rank = static_cast<int>(environment.number("OMPI_COMM_WORLD_RANK").value_or(0));
    options.size = static_cast<int>(environment.number("OMPI_COMM_WORLD_SIZE").value_or(1));
  } else if (const auto slurm = from_slurm(environment)) {
    options = *slurm;
  } else if (const auto place = from_tf_config(environment)) {
    if (const auto ranks = ranks_of(*place)) options = *ranks;
  }
  if (const auto transport = environment.text("WEIR_TRANSPORT")) options.transport = *transport;
  if (const auto rendezvous = environment.text("WEIR_RENDEZVOUS")) options.rendezvous = *rendezvous;
  if (const auto address = environment.text("WEIR_ADDRESS")) options.address = *address;
  if (const auto interface = environment.text("WEIR_INTERFACE")) options.interface = *interface;
  if (const auto seconds = environment.number("WEIR_TIMEOUT_SECONDS")) options.timeout = std::chrono::seconds(*seconds);
  if (const auto bytes = environment.number("WEIR_FUSION_BYTES")) options.fusion_bytes = static_cast<size_t>(*bytes);
  if (options.size < 1 || options.rank >= options.size) {
    throw invalid_argument("rank {} of {} processes makes no sense", options.rank, options.size);
  }
  if (options.transport == "gloo" && options.size > 1 && options.rendezvous.empty()) {
    throw invalid_argument(
        "processes that find each other by gloo need an address of rank 0: WEIR_RENDEZVOUS=host:port");
  }
  return options;
}

std::optional<ClusterPlace> cluster_from_environment(const Lookup& lookup, int port) {
  const Environment environment(lookup);
  if (auto place = from_tf_config(environment)) return place;
  const std::optional<int64_t> rank = environment.number("SLURM_PROCID");
  if (!rank || !environment.has("SLURM_STEP_NUM_TASKS")) return std::nullopt;
  // One process after the other, machine by machine, each with a port of its own.
  const std::vector<std::string> hosts = expand_hosts(
      environment.text("SLURM_STEP_NODELIST").value_or(environment.text("SLURM_NODELIST").value_or("localhost")));
  std::vector<int> counts = expand_counts(environment.text("SLURM_STEP_TASKS_PER_NODE").value_or("1"));
  counts.resize(hosts.size(), counts.empty() ? 1 : counts.back());
  ClusterPlace place{.jobs = {}, .job = "worker", .task = static_cast<int>(*rank)};
  for (size_t host = 0; host < hosts.size(); ++host) {
    for (int i = 0; i < counts[host]; ++i) place.jobs["worker"].push_back(fmt::format("{}:{}", hosts[host], port + i));
  }
  return place;
}

}  // namespace weir::distributed
