#pragma once

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "distributed/transport.h"

namespace weir::distributed {

// The threads that end the calls of all channels.
class CallEnds {
 public:
  CallEnds();
  ~CallEnds();
  grpc::CompletionQueue& queue() { return queue_; }

  // A queue for a caller who waits himself: no other thread stands between him and the answer.
  std::unique_ptr<grpc::CompletionQueue> take();
  void give_back(std::unique_ptr<grpc::CompletionQueue> queue);

 private:
  void serve();

  grpc::CompletionQueue queue_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<grpc::CompletionQueue>> idle_;  // guarded by mutex_
};

std::shared_ptr<Channel> make_grpc_channel(const std::string& address, const ConnectOptions& options,
                                           std::shared_ptr<CallEnds> ends);

}  // namespace weir::distributed
