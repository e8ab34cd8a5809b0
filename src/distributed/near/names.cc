#include "distributed/near/names.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>

namespace weir::distributed {
namespace {

// Belongs to the process, as the names do.
struct OwnServers {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<OwnServer>> by_name;  // guarded by mutex
};

OwnServers& own_servers() {
  static auto* servers = new OwnServers;
  return *servers;
}

}  // namespace

sockaddr_un near_address(const std::string& name, socklen_t& size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A zero first: the name is no file's.
  const size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

bool is_same_user(const Socket& socket) {
  ucred who{};
  socklen_t size = sizeof(who);
  return getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

void add_own_server(const std::string& name, const std::shared_ptr<OwnServer>& server) {
  std::lock_guard lock(own_servers().mutex);
  own_servers().by_name[name] = server;
}

void remove_own_server(const std::string& name) {
  std::lock_guard lock(own_servers().mutex);
  own_servers().by_name.erase(name);
}

std::shared_ptr<OwnServer> find_own_server(const std::string& name) {
  std::lock_guard lock(own_servers().mutex);
  auto found = own_servers().by_name.find(name);
  return found == own_servers().by_name.end() ? nullptr : found->second.lock();
}

}  // namespace weir::distributed
