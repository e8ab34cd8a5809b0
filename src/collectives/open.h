#pragma once

#include <memory>
#include <string>

#include "collectives/transport.h"

namespace weir::collectives {

// For a process that was started by itself.
std::unique_ptr<Transport> make_alone();

// Opens libweir_<name>.so (mpi, gloo), from the folder of this library if it is there, and makes its transport. "alone"
// needs no library. Throws NotFound when there is no such library, or it needs one that is not installed; Unavailable
// when the processes do not find each other.
std::unique_ptr<Transport> open_transport(const std::string& name, const TransportOptions& options);

}  // namespace weir::collectives
