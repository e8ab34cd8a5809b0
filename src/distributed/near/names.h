#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <optional>
#include <string>

#include "distributed/near/frame.h"

namespace weir::distributed {

// The socket's address: a name that the kernel keeps, which ends with whoever listens.
sockaddr_un near_address(const std::string& name, socklen_t& size);
// Whether a process of this user is at the other end.
bool is_same_user(const Socket& socket);

// A server of this process, as callers in it see it. Thread-safe.
class OwnServer {
 public:
  virtual ~OwnServer() = default;
  // Handles the call in this thread, and gives its answer; none when the server has been stopped, and has not taken the
  // request.
  virtual std::optional<Reply> call(std::string_view method, Message& request, const std::string& token,
                                    const CallOptions& options) = 0;
};

// Servers of this process by their names.
void add_own_server(const std::string& name, const std::shared_ptr<OwnServer>& server);
void remove_own_server(const std::string& name);
std::shared_ptr<OwnServer> find_own_server(const std::string& name);  // null: there is none

}  // namespace weir::distributed
