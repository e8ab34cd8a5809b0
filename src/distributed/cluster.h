#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/transport.h"
#include "proto/cluster.pb.h"
#include "proto/device_attributes.pb.h"
#include "weir/device.h"

namespace weir::distributed {

// Services and their methods are TensorFlow's.
inline const std::string kMasterService = "/tensorflow.MasterService/", kWorkerService = "/tensorflow.WorkerService/";
// In the description of devices: how a task says that it is Weir's, by what name processes beside it can call it, and
// where its memory can be read.
inline const std::string kWeirDevice = "weir: ", kNearMark = "; near ", kMemoryMark = "; memory ";
// What a description says behind a mark; "": nothing.
std::string said_in(const std::string& description, const std::string& mark);

// Jobs, and the addresses of their tasks.
using Jobs = std::map<std::string, std::map<int, std::string>>;
Jobs jobs_from_proto(const proto::ClusterDef& cluster);
void jobs_to_proto(const Jobs& jobs, proto::ClusterDef& cluster);

// "/job:worker/replica:0/task:1"
std::string task_name(const std::string& job, int task);
std::string task_name(const DeviceSpec& spec);  // REQUIRES: it has a job and a task
// The device that stands for a task in keys.
inline std::string host_device(const std::string& task) { return task + "/device:CPU:0"; }

// What two parts of a step call a value: who sends it, which life of his, who gets it, and its name.
std::string rendezvous_key(const std::string& send_device, uint64_t incarnation, const std::string& recv_device,
                           const std::string& name);
struct ParsedKey {
  std::string_view send_task() const { return spelled.empty() ? plain : std::string_view(spelled); }
  std::string_view plain = {};  // of the key, in which the task stands as tasks write themselves, mostly
  std::string spelled = {};     // the same for others
  uint64_t incarnation = 0;
};
ParsedKey parse_key(std::string_view key);  // throws InvalidArgument

// Another task of the cluster. Calls that are under way keep it.
class Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(std::string name, std::string address, std::shared_ptr<Transport> transport, ConnectOptions options);
  const std::string& name() const { return name_; }
  const std::string& address() const { return address_; }
  // Calls a method of its worker service, or of another one when it is a whole path. What came of it has the task, its
  // address and `doing` in its error.
  Reply call(const char* method, Message request, const CallOptions& options, const char* doing);
  // `about`: what it is about, put behind `doing`.
  void begin(const char* method, Message request, const CallOptions& options, const char* doing,
             std::function<void(Reply)> done, std::string about = {});
  // Whether it is a server of Weir's, as its devices say; asked once it has answered.
  bool is_weir() const { return weir_; }
  // Whether values may be asked for in shared memory.
  bool is_near() const { return near_; }
  // Asks it for its devices, once and without waiting, so that this is known for the next call.
  void get_to_know();
  // Its devices now. Throws Unavailable.
  std::vector<proto::DeviceAttributes> devices(const CallOptions& options);

 private:
  std::shared_ptr<Channel> channel();
  void explain(Reply& reply, const char* doing, const std::string& about) const;
  void note(const std::vector<proto::DeviceAttributes>& devices);

  const std::string name_, address_;
  const std::shared_ptr<Transport> transport_;
  ConnectOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Channel> channel_;  // both guarded by mutex_
  std::string near_name_;
  std::atomic<bool> weir_ = false, near_ = false, asked_ = false;
};

// All tasks but this one, by name.
class Peers {
 public:
  Peers(const Jobs& jobs, const std::string& own, const std::shared_ptr<Transport>& transport,
        const ConnectOptions& options);
  Peer* find(std::string_view task) const;
  Peer& at(std::string_view task) const;  // throws NotFound
  const std::vector<std::shared_ptr<Peer>>& all() const { return peers_; }

 private:
  std::vector<std::shared_ptr<Peer>> peers_;
};

}  // namespace weir::distributed
