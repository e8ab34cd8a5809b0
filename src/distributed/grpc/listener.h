#pragma once

#include <memory>

#include "distributed/transport.h"

namespace weir::distributed {

std::unique_ptr<Listener> listen_on_grpc(const ListenOptions& options, Handler handler);

}  // namespace weir::distributed
