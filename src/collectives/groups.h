#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "collectives/engine.h"

// The groups of processes that this process belongs to, by name; "" is all that were started together. They belong to
// the process, as the launcher's numbers do that they are made of. Thread-safe.
namespace weir::collectives {

// Null when there is none.
std::shared_ptr<Engine> find_group(std::string_view name);
// Throws FailedPrecondition when there is none.
std::shared_ptr<Engine> require_group(std::string_view name);
// Null takes it away; the engine ends when nobody uses it any more. Gives back the one that was there.
std::shared_ptr<Engine> set_group(const std::string& name, std::shared_ptr<Engine> engine);

}  // namespace weir::collectives
