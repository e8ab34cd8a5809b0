#include "collectives/groups.h"

#include <map>
#include <mutex>

#include "base/errors.h"

namespace weir::collectives {
namespace {

struct Groups {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Engine>, std::less<>> engines;
};

// Never destroyed: threads may ask while the process ends.
Groups& groups() {
  static auto* instance = new Groups;
  return *instance;
}

}  // namespace

std::shared_ptr<Engine> find_group(std::string_view name) {
  Groups& all = groups();
  std::lock_guard lock(all.mutex);
  auto found = all.engines.find(name);
  return found == all.engines.end() ? nullptr : found->second;
}

std::shared_ptr<Engine> require_group(std::string_view name) {
  std::shared_ptr<Engine> engine = find_group(name);
  if (!engine) {
    throw error(Code::FailedPrecondition, "{}; use init() of weir::distributed (weir.distributed, hvd) first",
                name.empty() ? "collectives have not been initialized" : "there is no such group of processes");
  }
  return engine;
}

std::shared_ptr<Engine> set_group(const std::string& name, std::shared_ptr<Engine> engine) {
  Groups& all = groups();
  std::lock_guard lock(all.mutex);
  std::shared_ptr<Engine> before;
  if (auto found = all.engines.find(name); found != all.engines.end()) {
    before = std::move(found->second);
    all.engines.erase(found);
  }
  if (engine) all.engines.emplace(name, std::move(engine));
  return before;
}

}  // namespace weir::collectives
