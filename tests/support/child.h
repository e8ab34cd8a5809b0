#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace weir::testing {

// Whether `body`, in a child process, comes to its end with true. Not for the thread sanitizer, which lets no child of
// several threads start threads.
template <class Body>
bool in_a_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that hangs is ended by a signal
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace weir::testing
