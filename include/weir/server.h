#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/session_options.h"

namespace weir::train {

// The addresses of a cluster's tasks, by job and number: {{"ps", {{0, "host:2222"}}}, {"worker", {...}}}.
using ClusterSpec = std::map<std::string, std::map<int, std::string>>;

struct ServerOptions {
  ClusterSpec cluster = {};
  std::string job = {};  // empty: the cluster's only job
  int task = -1;         // -1: the job's only task
  std::string protocol = "grpc";
  SessionOptions config = {};  // threads and devices of the task; credentials
  bool start = true;

  // Security: docs/cluster.md. The address that the cluster names for the task is listened at if it is this machine's
  // loopback; others only if this says so, with a warning when there is neither TLS nor a token.
  bool listen_to_network = false;
  size_t max_message_bytes = 0;    // 0: 2 GB
  size_t max_graph_nodes = 0;      // 0: no limit
  size_t max_sessions = 0;         // 0: no limit
  bool untrusted_clients = false;  // operations on files and of the host are refused
};

// One task of a cluster: serves sessions of clients (Session with SessionOptions::target) and runs parts of graphs for
// other tasks. The protocol and the messages are TensorFlow's, whose clients may use it too.
//
//   train::Server server({.cluster = {{"ps", {{0, "localhost:2222"}}}, {"worker", {{0, "localhost:2223"}}}},
//                         .job = "ps", .task = 0});
//   server.join();
//
// Thread-safe. Errors: InvalidArgument for a cluster that has no such task, Unavailable when the port cannot be had,
// Unimplemented, with what is missing, when Weir was built without gRPC.
class WEIR_API Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // A cluster of this one task, on a free port.
  static std::unique_ptr<Server> create_local(SessionOptions config = {}, bool start = true);

  void start();
  // Ends every session and step with an error, and the calls of others.
  void stop();
  // Waits until stop() is called; at most so long. Says whether the server has stopped.
  bool join(std::optional<std::chrono::milliseconds> timeout = {});

  std::string target() const;  // "grpc://localhost:2222": for SessionOptions::target
  const ServerOptions& options() const;
  std::string status() const;  // for people: sessions, steps, who waits for what

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a server says of itself: Server::status(), over the network. Throws Unavailable, DeadlineExceeded.
WEIR_API std::string server_status(const std::string& address, const ClusterCredentials& credentials = {},
                                   std::chrono::milliseconds timeout = std::chrono::seconds(10));

// "ps=host:1,host:2;worker=host:3" or, from a command line, "ps=host:1,worker=host:3,host:4". Throws InvalidArgument.
WEIR_API ClusterSpec parse_cluster(const std::string& text);

}  // namespace weir::train
