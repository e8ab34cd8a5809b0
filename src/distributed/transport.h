#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "distributed/message.h"
#include "weir/error.h"

namespace weir::distributed {

// How tasks and clients call each other: methods by name, with messages whose meaning is the callers' affair. gRPC is
// one (libweir_grpc, which programs without a cluster never load); tests bring another, in one process, that loses,
// delays and repeats what it carries. Everything here is thread-safe.

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// Who may talk to whom. Files are PEM. Empty: no encryption, no token.
struct Credentials {
  std::string ca_file = {}, certificate_file = {}, key_file = {};  // mutual TLS, when all are given
  std::string token = {};                                          // sent with every call, and asked for by servers
};

// What came of a call.
struct Reply {
  Code code = Code::Ok;
  std::string error = {};    // what went wrong, when `code` is not Ok
  std::string details = {};  // more about it, for programs
  bool lost = false;         // there was nobody there, or the connection broke: not an answer of the other side
  Message body = {};
};

struct CallOptions {
  Deadline deadline = kNoDeadline;
  std::stop_token stop = {};    // ends the call with Cancelled; the other side is told
  bool wait_for_ready = false;  // while nobody is there, tries again until the deadline
};

// The way to one task. Calls end in any order.
class Channel {
 public:
  virtual ~Channel() = default;
  // `done` is called once, from a thread of the transport, perhaps before this returns.
  virtual void begin(std::string_view method, Message request, const CallOptions& options,
                     std::function<void(Reply)> done) = 0;
  // The same, waiting in this thread.
  virtual Reply call(std::string_view method, Message request, const CallOptions& options) = 0;
};

// A call that has come in. It must be answered once; who lets go of it unanswered answers with Internal.
class Incoming {
 public:
  virtual ~Incoming() = default;
  virtual std::string_view method() const = 0;  // "/tensorflow.WorkerService/RunGraph"
  virtual const Message& request() const = 0;
  virtual std::string peer() const = 0;
  virtual std::string token() const = 0;  // "" when none came
  // Stopped when the caller is gone, has given up, or the listener closes.
  virtual std::stop_token stop() const = 0;
  virtual Deadline deadline() const = 0;
  virtual void answer(Message body) = 0;
  virtual void fail(Code code, const std::string& message, const std::string& details = {}) = 0;
};

// Called in a thread of the transport that it may keep as long as it likes.
using Handler = std::function<void(const std::shared_ptr<Incoming>&)>;

// An open port. Closing it ends the calls that are under way and waits for their handlers.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual int port() const = 0;
  virtual void close() = 0;
};

struct ListenOptions {
  std::string address = {};  // "127.0.0.1:2222"; port 0: any that is free
  Credentials credentials = {};
  size_t max_message_bytes = 0;  // 0: 2 GB, the most that protobuf reads
};

struct ConnectOptions {
  Credentials credentials = {};
  size_t max_message_bytes = 0;
  bool keep_alive = false;  // looks every few seconds whether the other side still answers; TensorFlow's dislike that
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Throws Unavailable when the port cannot be had, InvalidArgument for an address or credentials that are none.
  virtual std::unique_ptr<Listener> listen(const ListenOptions& options, Handler handler) = 0;
  // Never fails at once: calls do, while there is nobody.
  virtual std::shared_ptr<Channel> connect(const std::string& address, const ConnectOptions& options) = 0;
};

// The transport of a protocol: "grpc". Throws NotFound for others, and Unimplemented, with what is missing, when its
// library cannot be loaded.
std::shared_ptr<Transport> find_transport(const std::string& protocol);

// What libweir_grpc exports: a new transport, for a program that knows this version of the interface; null otherwise.
inline constexpr int kTransportInterface = 2;
using MakeTransportFn = Transport* (*)(int interface_version);
inline constexpr const char* kMakeTransport = "weir_make_transport";

}  // namespace weir::distributed
