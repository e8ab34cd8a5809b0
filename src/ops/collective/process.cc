#include <cstdlib>
#include <mutex>

#include "collectives/groups.h"
#include "collectives/open.h"
#include "weir/collectives.h"

namespace weir::distributed {
namespace {

std::mutex& init_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

}  // namespace

void init(const Options& options) {
  std::lock_guard lock(init_mutex());
  if (collectives::find_group("")) return;
  const collectives::TransportOptions transport{.rank = options.rank,
                                                .size = options.size,
                                                .rendezvous = options.rendezvous,
                                                .address = options.address,
                                                .interface = options.interface,
                                                .connect_timeout = options.connect_timeout,
                                                .timeout = options.timeout};
  const std::string name = options.transport;
  collectives::set_group(
      "", std::make_shared<collectives::Engine>([=] { return collectives::open_transport(name, transport); },
                                                collectives::EngineOptions{.fusion_bytes = options.fusion_bytes}));
  // mpirun takes a process that ends without a word for one that has crashed.
  static const bool registered = std::atexit(shutdown) == 0;
  (void)registered;
}

void init() { init(from_environment()); }

void shutdown() {
  std::lock_guard lock(init_mutex());
  collectives::set_group("", nullptr);
}

bool is_initialized() { return collectives::find_group("") != nullptr; }
int rank() { return collectives::require_group("")->rank(); }
int size() { return collectives::require_group("")->size(); }
int local_rank() { return collectives::require_group("")->local_rank(); }
int local_size() { return collectives::require_group("")->local_size(); }
std::string transport() { return collectives::require_group("")->transport(); }

}  // namespace weir::distributed
