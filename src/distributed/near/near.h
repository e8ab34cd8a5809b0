#pragma once

#include <functional>
#include <memory>
#include <string>

#include "distributed/transport.h"

namespace weir::distributed {

// Calls between processes of one machine, user and network namespace, over sockets that have no place in the file
// system. A server names its own to whoever asks it for its devices; who cannot connect to it stays with gRPC, without
// a word. A call costs a few system calls and, of threads, only those of its two ends: a sixth of what it costs with
// gRPC.
class NearListener {
 public:
  virtual ~NearListener() = default;
  virtual const std::string& name() const = 0;
  // Ends the calls that are under way and waits for their handlers.
  virtual void close() = 0;
};

// Null where the system has no such sockets.
std::unique_ptr<NearListener> listen_near(Handler handler, size_t max_message_bytes);

// A channel to the server of that name. `far` is another way to it, which the channel takes when the name leads
// nowhere, and over which it asks, while a call takes long, whether the server still runs. Calls to a server of this
// process are calls of its handler. `nowhere` is told, once at most, that the name is nobody's any more.
std::shared_ptr<Channel> connect_near(const std::string& name, std::shared_ptr<Channel> far,
                                      const ConnectOptions& options, std::function<void()> nowhere);
// The same for a server of this process, too.
std::shared_ptr<Channel> connect_near_socket(const std::string& name, std::shared_ptr<Channel> far,
                                             const ConnectOptions& options, std::function<void()> nowhere);

}  // namespace weir::distributed
