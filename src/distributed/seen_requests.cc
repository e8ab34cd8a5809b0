#include "distributed/seen_requests.h"

#include "base/errors.h"

namespace weir::distributed {
namespace {

// More than are under way at once; as many as TensorFlow keeps would be memory that nobody needs.
constexpr size_t kKept = 4'096;

}  // namespace

void SeenRequests::add(int64_t id, const char* what) {
  if (id == 0) return;
  std::lock_guard lock(mutex_);
  if (!ids_.insert(id).second)
    throw error(Code::Aborted, "The same {} request was received twice, and ran once.", what);
  order_.push_back(id);
  if (order_.size() <= kKept) return;
  ids_.erase(order_.front());
  order_.pop_front();
}

}  // namespace weir::distributed
