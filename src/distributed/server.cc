#include "weir/server.h"

#include <condition_variable>
#include <mutex>

#include "base/errors.h"
#include "distributed/near/near.h"
#include "distributed/service.h"
#include "distributed/status.h"
#include "tensor/shared_blocks.h"

namespace weir::train {

using namespace distributed;

namespace {

Credentials to_credentials(const ClusterCredentials& c) {
  return {.ca_file = c.ca_file, .certificate_file = c.certificate_file, .key_file = c.key_file, .token = c.token};
}

// "host:port" in two. Throws InvalidArgument.
std::pair<std::string, std::string> split_address(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size() ||
      address.find_first_not_of("0123456789", colon + 1) != std::string::npos) {
    throw invalid_argument("Could not interpret \"{}\" as a host-port pair.", address);
  }
  return {address.substr(0, colon), address.substr(colon + 1)};
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host == "::1";
}

// The one key of a map, for who leaves the choice open.
template <class Map>
auto only(const Map& map, const char* what) {
  if (map.size() != 1) throw invalid_argument("the server's {} must be named: the cluster has {}", what, map.size());
  return map.begin()->first;
}

}  // namespace

struct Server::Impl {
  explicit Impl(ServerOptions o) : options(std::move(o)), transport(find_transport(options.protocol)) {
    if (options.cluster.empty()) throw invalid_argument("the cluster has no tasks");
    if (options.job.empty()) options.job = only(options.cluster, "job");
    auto tasks = options.cluster.find(options.job);
    if (tasks == options.cluster.end()) throw invalid_argument("Job \"{}\" was not defined in cluster", options.job);
    if (options.task < 0) options.task = only(tasks->second, "task");
    auto address = tasks->second.find(options.task);
    if (address == tasks->second.end()) {
      throw invalid_argument("Task {} was not defined in job \"{}\"", options.task, options.job);
    }
    const auto [host, port] = split_address(address->second);
    for (const auto& [job, addresses] : options.cluster) {
      for (const auto& [number, text] : addresses) split_address(text);
    }
    share_large_allocations();  // tasks of this machine read each other's values where they are
    open(host, port);
    tasks->second[options.task] = fmt::format("{}:{}", host, listener->port());
  }

  void open(const std::string& host, const std::string& port) {
    const bool network = options.listen_to_network;
    const ClusterCredentials& c = options.config.credentials;
    if (!network && !is_loopback(host)) {
      fmt::print(
          stderr,
          "weir: warning: the task's address {}:{} is not this machine's alone, and only the loopback is listened at. "
          "listen_to_network=True (weir server --listen-to-network) opens it to other machines.\n",
          host, port);
    }
    if (network && c.token.empty() && c.ca_file.empty()) {
      fmt::print(stderr,
                 "weir: warning: the server listens to the network at port {} without TLS and without a token: whoever "
                 "reaches it can "
                 "run any graph, which can read and write files.\n",
                 port);
    }
    // Who has no certificate may not call, wherever he is.
    if (c.ca_file.empty()) {
      near = listen_near([this](const std::shared_ptr<Incoming>& call) { handle(call); }, options.max_message_bytes);
    }
    ServiceOptions service_options;
    service_options.master = {.jobs = options.cluster, .job = options.job, .task = options.task};
    service_options.worker.task = task_name(options.job, options.task);
    service_options.worker.session = options.config;
    service_options.worker.session.target.clear();
    service_options.worker.session.task = service_options.worker.task;
    if (near) service_options.worker.near_name = near->name();
    service_options.worker.max_graph_nodes = options.max_graph_nodes;
    service_options.worker.untrusted_clients = options.untrusted_clients;
    service_options.token = c.token;
    service_options.max_sessions = options.max_sessions;
    auto peers = std::make_shared<Peers>(
        options.cluster, service_options.worker.task, transport,
        ConnectOptions{.credentials = to_credentials(c), .max_message_bytes = options.max_message_bytes});
    service = std::make_unique<Service>(service_options, std::move(peers));
    const ListenOptions listen{.address = (network ? "0.0.0.0:" : "127.0.0.1:") + port,
                               .credentials = to_credentials(c),
                               .max_message_bytes = options.max_message_bytes};
    listener = transport->listen(listen, [this](const std::shared_ptr<Incoming>& call) { handle(call); });
  }

  // Calls that come before start() wait for it.
  void handle(const std::shared_ptr<Incoming>& call) {
    if (!started) {
      std::unique_lock lock(mutex);
      std::stop_callback gone(call->stop(), [this] {
        std::lock_guard guard(mutex);
        changed.notify_all();
      });
      lock.unlock();
      lock.lock();
      changed.wait(lock, [&] { return started || stopped || call->stop().stop_requested(); });
    }
    service->handle(call);
  }

  void stop() {
    {
      std::lock_guard lock(mutex);
      if (std::exchange(stopped, true)) return;
    }
    changed.notify_all();
    service->stop();
    if (near) near->close();
    listener->close();
    std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }

  ServerOptions options;
  const std::shared_ptr<Transport> transport;
  std::unique_ptr<Service> service;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<NearListener> near;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> started = false;
  bool stopped = false, ended = false;  // guarded by mutex
};

Server::Server(ServerOptions options) {
  const bool begin = options.start;
  impl_ = std::make_unique<Impl>(std::move(options));
  if (begin) start();
}

Server::~Server() { stop(); }

std::unique_ptr<Server> Server::create_local(SessionOptions config, bool start) {
  ServerOptions options;
  options.cluster["local"][0] = "localhost:0";
  options.config = std::move(config);
  options.start = start;
  return std::make_unique<Server>(std::move(options));
}

void Server::start() {
  std::lock_guard lock(impl_->mutex);
  impl_->started = true;
  impl_->changed.notify_all();
}

void Server::stop() { impl_->stop(); }

bool Server::join(std::optional<std::chrono::milliseconds> timeout) {
  std::unique_lock lock(impl_->mutex);
  auto ended = [&] { return impl_->ended; };
  if (timeout) return impl_->changed.wait_for(lock, *timeout, ended);
  impl_->changed.wait(lock, ended);
  return true;
}

std::string Server::target() const {
  return "grpc://" + impl_->options.cluster.at(impl_->options.job).at(impl_->options.task);
}

const ServerOptions& Server::options() const { return impl_->options; }
std::string Server::status() const { return impl_->service->status(); }

std::string server_status(const std::string& address, const ClusterCredentials& credentials,
                          std::chrono::milliseconds timeout) {
  split_address(address);
  const auto channel = find_transport("grpc")->connect(address, {.credentials = to_credentials(credentials)});
  const Reply reply = channel->call("/weir.Status/Show", {}, {.deadline = std::chrono::steady_clock::now() + timeout});
  if (reply.code == Code::Unimplemented) {
    throw error(Code::Unimplemented, "the server at {} is not Weir's: it has no status to show", address);
  }
  if (reply.code != Code::Ok) throw error(reply.code, "the server at {} cannot be asked: {}", address, reply.error);
  return reply.body.flat();
}

ClusterSpec parse_cluster(const std::string& text) {
  ClusterSpec cluster;
  std::string job;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = text.find_first_of(",;", begin);
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(begin, end - begin);
    const size_t equals = word.find_first_of("=|");
    if (equals != std::string::npos) {
      job = word.substr(0, equals);
      word = word.substr(equals + 1);
    }
    if (job.empty())
      throw invalid_argument("a cluster is described as ps=host:port,worker=host:port,host:port; not as '{}'", text);
    split_address(word);
    cluster[job].emplace(static_cast<int>(cluster[job].size()), word);
    begin = end + 1;
  }
  return cluster;
}

}  // namespace weir::train
