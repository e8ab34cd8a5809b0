#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/saver.h"
#include "weir/session.h"

namespace weir::train {

// Takes a line of text for people. An empty one writes to the standard error stream.
using Log = std::function<void(std::string_view)>;

struct SessionManagerOptions {
  Output ready_op = {};                 // string names of what is not ready yet; empty handle: nothing to ask
  Output ready_for_local_init_op = {};  // the same, before local_init_op may run
  Operation local_init_op = {};         // run in every session, also in one that was restored
  std::chrono::milliseconds recovery_wait = std::chrono::seconds(30);  // the longest pause between two attempts
  Log log = {};
  std::function<bool()> interrupted = {};  // asked while waiting; true ends the wait with Cancelled
};
struct RestoreOptions {
  SessionOptions session = {};
  Saver* saver = nullptr;            // none: nothing is restored
  std::string checkpoint_dir = {};   // its newest checkpoint, or...
  std::string checkpoint_path = {};  // ...this one
  bool wait_for_checkpoint = false;
  std::chrono::milliseconds max_wait = std::chrono::hours(2);
};
struct PrepareOptions {
  RestoreOptions restore = {};
  // What gives the variables their values when nothing was restored.
  Operation init_op = {};
  std::vector<Feed> init_feeds = {};
  std::function<void(Session&)> init_fn = {};
};

// Makes sessions whose variables have their values: from a checkpoint, from their initializers, or from somebody else.
// The graph must outlive it.
class WEIR_API SessionManager {
 public:
  // Throws InvalidArgument for a ready_for_local_init_op without a local_init_op.
  explicit SessionManager(Graph& graph, SessionManagerOptions options = {});

  // For a chief: a session that is ready, restored or else initialised. On servers whose variables all live on, at the
  // checkpoint's step or later, it goes on with what they have. Throws FailedPrecondition when it is not ready after
  // that, saying which variables have no value.
  std::unique_ptr<Session> prepare_session(const PrepareOptions& options = {});
  // A session, and whether it was restored and is ready.
  struct Recovered {
    std::unique_ptr<Session> session;
    bool ready;
  };
  Recovered recover_session(const RestoreOptions& options);
  // For other workers: a session in which somebody else has initialised the variables. Throws DeadlineExceeded when
  // nobody has in that time.
  std::unique_ptr<Session> wait_for_session(const SessionOptions& session,
                                            std::chrono::milliseconds max_wait = std::chrono::hours(2));

 private:
  Recovered restore(const RestoreOptions& options);
  bool has_later_values(Session& session, const RestoreOptions& options, const std::string& checkpoint);
  std::string run_local_init(Session& session);
  void pause(std::chrono::milliseconds time) const;

  Graph* graph_;
  SessionManagerOptions options_;
};

}  // namespace weir::train
