#pragma once

#include <condition_variable>
#include <mutex>

#include "distributed/near/names.h"

namespace weir::distributed {

// Calls of this process to a server of its own: its handler runs in the caller's thread. Messages share their bytes,
// and both sides only read them. Thread-safe.
class OwnServerCalls final : public OwnServer {
 public:
  explicit OwnServerCalls(Handler handler) : handler_(std::move(handler)) {}
  std::optional<Reply> call(std::string_view method, Message& request, const std::string& token,
                            const CallOptions& options) override;
  // Refuses further calls, stops those that are under way and waits for them.
  void close();

 private:
  const Handler handler_;
  std::stop_source closing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int under_way_ = 0;  // both guarded by mutex_
  bool closed_ = false;
};

}  // namespace weir::distributed
