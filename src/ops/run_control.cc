#include "ops/run_control.h"

#include "weir/error.h"

namespace weir {

void RunControl::end() const {
  if (session && session->stop_requested()) throw Error(Code::Cancelled, "the session was closed");
  if (program && program->stop_requested()) throw Error(Code::Cancelled, "the run was cancelled");
  if (has_deadline() && std::chrono::steady_clock::now() >= deadline) {
    throw Error(Code::DeadlineExceeded,
                "Timed out waiting for notification: the run took longer than its timeout allows");
  }
  throw Error(Code::Cancelled, "another step of the run has failed");
}

}  // namespace weir
