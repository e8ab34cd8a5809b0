#include "distributed/cluster.h"

#include <charconv>

#include "base/errors.h"
#include "distributed/lend.h"
#include "distributed/near/near.h"
#include "distributed/wire.h"
#include "proto/worker.pb.h"

namespace weir::distributed {

std::string said_in(const std::string& description, const std::string& mark) {
  const size_t at = description.find(mark);
  if (!description.starts_with(kWeirDevice) || at == std::string::npos) return {};
  const size_t begin = at + mark.size();
  return description.substr(begin, description.find("; ", begin) - begin);
}

Jobs jobs_from_proto(const proto::ClusterDef& cluster) {
  Jobs jobs;
  for (const proto::JobDef& job : cluster.job()) {
    for (const auto& [task, address] : job.tasks()) jobs[job.name()][task] = address;
  }
  return jobs;
}

void jobs_to_proto(const Jobs& jobs, proto::ClusterDef& cluster) {
  for (const auto& [name, tasks] : jobs) {
    proto::JobDef& job = *cluster.add_job();
    job.set_name(name);
    for (const auto& [task, address] : tasks) (*job.mutable_tasks())[task] = address;
  }
}

std::string task_name(const std::string& job, int task) { return fmt::format("/job:{}/replica:0/task:{}", job, task); }
std::string task_name(const DeviceSpec& spec) {
  return fmt::format("/job:{}/replica:{}/task:{}", *spec.job, spec.replica.value_or(0), *spec.task);
}

std::string rendezvous_key(const std::string& send_device, uint64_t incarnation, const std::string& recv_device,
                           const std::string& name) {
  return fmt::format("{};{:016x};{};{};0:0", send_device, incarnation, recv_device, name);
}

// The task of "/job:ps/replica:0/task:1/device:CPU:0", as tasks write themselves; empty for any other way to write it.
static std::string_view plain_task(std::string_view device) {
  size_t at = 0;
  auto skip = [&](std::string_view word) {
    if (!device.substr(at).starts_with(word)) return false;
    at += word.size();
    return true;
  };
  auto skip_while = [&](auto is_part) {
    const size_t from = at;
    while (at < device.size() && is_part(device[at])) ++at;
    return at > from;
  };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool plain = skip("/job:") && skip_while([](char c) { return c != '/'; }) && skip("/replica:") &&
                     skip_while(digit) && skip("/task:") && skip_while(digit) &&
                     device.substr(at).starts_with("/device:");
  return plain ? device.substr(0, at) : std::string_view();
}

// In every transfer of a value, more than once.
ParsedKey parse_key(std::string_view key) {
  const size_t first = key.find(';');
  const size_t second = first == std::string_view::npos ? first : key.find(';', first + 1);
  if (second == std::string_view::npos) throw invalid_argument("Invalid rendezvous key: '{}'", key);
  const std::string_view sender = key.substr(0, first), plain = plain_task(sender);
  ParsedKey parsed;
  const char* begin = key.data() + first + 1;
  const char* end = key.data() + second;
  const auto read = std::from_chars(begin, end, parsed.incarnation, 16);
  if (read.ec != std::errc() || read.ptr != end) throw invalid_argument("Invalid rendezvous key: '{}'", key);
  if (!plain.empty()) {
    parsed.plain = plain;
    return parsed;
  }
  const DeviceSpec device = DeviceSpec::parse(std::string(sender));
  if (!device.job || !device.task) throw invalid_argument("Invalid rendezvous key: '{}'", key);
  parsed.spelled = task_name(device);
  return parsed;
}

Peer::Peer(std::string name, std::string address, std::shared_ptr<Transport> transport, ConnectOptions options)
    : name_(std::move(name)),
      address_(std::move(address)),
      transport_(std::move(transport)),
      options_(std::move(options)) {}

std::shared_ptr<Channel> Peer::channel() {
  std::lock_guard lock(mutex_);
  if (channel_) return channel_;
  channel_ = transport_->connect(address_, options_);
  if (near_name_.empty()) return channel_;
  // A task that was started anew has another name.
  return channel_ = connect_near(near_name_, std::move(channel_), options_, [peer = weak_from_this()] {
           if (const auto self = peer.lock()) self->asked_ = false;
         });
}

void Peer::explain(Reply& reply, const char* what, const std::string& about) const {
  if (reply.code == Code::Ok) return;
  const std::string doing = about.empty() ? what : fmt::format("{} '{}'", what, about);
  if (reply.lost) {
    reply.error = fmt::format("the task {} at {} is lost, or was never there, while {}: {}", name_, address_, doing,
                              reply.error.empty() ? "no answer" : reply.error);
  } else if (reply.code == Code::DeadlineExceeded) {
    reply.error =
        fmt::format("the task {} at {} did not answer in time, while {}: {}", name_, address_, doing, reply.error);
  } else {
    reply.error = fmt::format("From {} at {}, {}:\n{}", name_, address_, doing, reply.error);
  }
}

// A whole path, without memory of its own: one is asked for with every value.
class Path {
 public:
  explicit Path(const char* method) {
    const auto end = fmt::format_to_n(text_, sizeof(text_), "{}{}", *method == '/' ? "" : kWorkerService, method);
    size_ = std::min(end.size, sizeof(text_));
  }
  operator std::string_view() const { return {text_, size_}; }

 private:
  char text_[96];
  size_t size_;
};

Reply Peer::call(const char* method, Message request, const CallOptions& options, const char* doing) {
  Reply reply = channel()->call(Path(method), std::move(request), options);
  explain(reply, doing, {});
  return reply;
}

void Peer::begin(const char* method, Message request, const CallOptions& options, const char* doing,
                 std::function<void(Reply)> done, std::string about) {
  channel()->begin(Path(method), std::move(request), options,
                   [self = shared_from_this(), doing, about = std::move(about), done = std::move(done)](Reply reply) {
                     self->explain(reply, doing, about);
                     done(std::move(reply));
                   });
}

void Peer::note(const std::vector<proto::DeviceAttributes>& devices) {
  for (const auto& device : devices) {
    const std::string& text = device.physical_device_desc();
    if (!text.starts_with(kWeirDevice)) continue;
    weir_ = true;
    const std::string memory = said_in(text, kMemoryMark), name = said_in(text, kNearMark);
    near_ = !memory.empty() && can_read(memory);
    std::lock_guard lock(mutex_);
    if (!std::exchange(options_.keep_alive, true) || name != near_name_)
      channel_ = nullptr;  // calls that are under way keep it
    near_name_ = name;
    break;
  }
}

std::vector<proto::DeviceAttributes> Peer::devices(const CallOptions& options) {
  asked_ = true;
  const Reply reply = call("GetStatus", encode(proto::GetStatusRequest()), options, "asked for its devices");
  if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
  proto::GetStatusResponse response;
  decode(reply.body, response);
  std::vector<proto::DeviceAttributes> list(response.device_attributes().begin(), response.device_attributes().end());
  note(list);
  return list;
}

void Peer::get_to_know() {
  if (asked_.exchange(true)) return;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  begin("GetStatus", encode(proto::GetStatusRequest()), {.deadline = deadline}, "asked for its devices",
        [self = shared_from_this()](const Reply& reply) {
          proto::GetStatusResponse response;
          if (reply.code != Code::Ok || !response.ParseFromString(reply.body.flat())) {
            self->asked_ = false;
            return;
          }
          self->note({response.device_attributes().begin(), response.device_attributes().end()});
        });
}

Peers::Peers(const Jobs& jobs, const std::string& own, const std::shared_ptr<Transport>& transport,
             const ConnectOptions& options) {
  for (const auto& [job, tasks] : jobs) {
    for (const auto& [task, address] : tasks) {
      const std::string name = task_name(job, task);
      if (name != own) peers_.push_back(std::make_shared<Peer>(name, address, transport, options));
    }
  }
}

Peer* Peers::find(std::string_view task) const {
  for (const auto& peer : peers_) {
    if (peer->name() == task) return peer.get();
  }
  return nullptr;
}

Peer& Peers::at(std::string_view task) const {
  if (Peer* peer = find(task)) return *peer;
  throw not_found("the cluster has no task {}", task);
}

}  // namespace weir::distributed
