// A process that saves in a loop is stopped at every system call that changes the disk, once as if it were killed and
// once as if the machine lost power (what was not synced is gone). Afterwards the newest checkpoint is there, whole,
// and no older than the last save that returned.
//
// The system calls are caught by defining them here: the library is linked into this program and finds these first.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/errors.h"
#include "weir/checkpoint.h"
#include "weir/saver.h"
#include "weir/state_ops.h"

namespace {

// What the child does at its n-th event. Only the child changes this.
struct Fault {
  long countdown = -1;  // -1: nothing is caught
  bool power_loss = false;
  std::mutex mutex;
  std::map<int, std::string> paths;  // of descriptors open for writing
  std::set<std::string> unsynced;    // files with writes that were not synced
};
Fault fault;

constexpr int kStopped = 9;

void event() {
  if (fault.countdown < 0 || fault.countdown-- > 0) return;
  if (fault.power_loss) {
    for (const std::string& path : fault.unsynced) ::truncate(path.c_str(), 0);
  }
  ::_exit(kStopped);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  std::lock_guard lock(fault.mutex);
  if (flags & O_CREAT) event();
  const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (fault.countdown >= 0 && fd >= 0 && (flags & (O_WRONLY | O_RDWR))) fault.paths[fd] = path;
  return fd;
}

ssize_t write(int fd, const void* bytes, size_t count) {
  if (fault.countdown < 0) return ::syscall(SYS_write, fd, bytes, count);
  std::lock_guard lock(fault.mutex);
  if (!fault.paths.contains(fd)) return ::syscall(SYS_write, fd, bytes, count);
  event();
  fault.unsynced.insert(fault.paths[fd]);
  const size_t half = count / 2;
  if (half > 0) ::syscall(SYS_write, fd, bytes, half);
  event();
  const ssize_t rest = ::syscall(SYS_write, fd, static_cast<const char*>(bytes) + half, count - half);
  return rest < 0 ? rest : static_cast<ssize_t>(half) + rest;
}

int fsync(int fd) {
  std::lock_guard lock(fault.mutex);
  event();
  if (auto it = fault.paths.find(fd); it != fault.paths.end()) fault.unsynced.erase(it->second);
  return 0;  // this machine does not lose power
}

int rename(const char* from, const char* to) noexcept {
  std::lock_guard lock(fault.mutex);
  event();
  if (fault.unsynced.erase(from)) fault.unsynced.insert(to);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  std::lock_guard lock(fault.mutex);
  event();
  fault.unsynced.erase(path);
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int mkdir(const char* path, mode_t mode) noexcept {
  std::lock_guard lock(fault.mutex);
  event();
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int rmdir(const char* path) noexcept {
  std::lock_guard lock(fault.mutex);
  event();
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"

namespace weir::train {
namespace {

namespace fs = std::filesystem;

constexpr int kSaves = 3;

struct Scenario {
  const char* name;
  bool numbered, sharded;  // each save under a number of its own, or all under one name
};

// Saves the values 1, 2, ... of two variables. `saved` is the last whose save returned.
void save_in_a_loop(const Scenario& scenario, const std::string& directory, volatile int* saved) {
  Graph g;
  Variable a = g.variable("a", Tensor::zeros(int32, {50})), b = g.variable("b", Tensor::zeros(int32, {}));
  Saver saver(g, {.sharded = scenario.sharded, .max_to_keep = 2});
  std::vector<Output> increments = {assign_add(a, Tensor::from<int>(std::vector<int>(50, 1), {50})),
                                    assign_add(b, Tensor(1))};
  Session session(g, {.intra_op_parallelism_threads = 1});
  session.run(g.global_variables_initializer());
  for (int64_t i = 1; i <= kSaves; ++i) {
    session.run(increments);
    SaveOptions options;
    if (scenario.numbered) options.global_step = i;
    saver.save(session, directory + "/model.ckpt", options);
    *saved = static_cast<int>(i);
  }
}

// Nothing when there is no checkpoint; a test failure when there is one that is not whole.
std::optional<int> latest_value(const std::string& directory) {
  const std::optional<std::string> path = latest_checkpoint(directory);
  if (!path) return std::nullopt;
  const CheckpointReader reader(*path);
  const Tensor a = reader.get_tensor("a"), b = reader.get_tensor("b");
  for (int value : a.data<int>()) EXPECT_EQ(value, b.scalar<int>()) << *path;
  return b.scalar<int>();
}

class CheckpointKill : public ::testing::TestWithParam<Scenario> {};

TEST_P(CheckpointKill, LeavesTheLastGoodCheckpointAtEveryInstant) {
  auto* saved = static_cast<volatile int*>(
      ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(saved, MAP_FAILED);
  for (bool power_loss : {false, true}) {
    int stops = 0;
    for (bool finished = false; !finished; ++stops) {
      std::string directory = (fs::temp_directory_path() / "weir_kill_XXXXXX").string();
      ASSERT_NE(::mkdtemp(directory.data()), nullptr);
      *saved = 0;
      const pid_t child = ::fork();
      if (child == 0) {
        fault.power_loss = power_loss;
        fault.countdown = stops;
        try {
          save_in_a_loop(GetParam(), directory, saved);
        } catch (const std::exception&) {
          ::_exit(1);
        }
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status));
      finished = WEXITSTATUS(status) == 0;
      ASSERT_TRUE(finished || WEXITSTATUS(status) == kStopped) << "stop " << stops << ": " << WEXITSTATUS(status);
      const std::optional<int> value = latest_value(directory);
      // A save that was under way may have come through, or not.
      if (*saved > 0) {
        ASSERT_TRUE(value) << "stop " << stops;
      }
      if (value) {
        EXPECT_GE(*value, *saved) << "stop " << stops;
        EXPECT_LE(*value, *saved + 1) << "stop " << stops;
      }
      fs::remove_all(directory);
      if (HasFailure()) return;
    }
    EXPECT_GT(stops, 50) << "the system calls are not caught";
  }
  ::munmap(const_cast<int*>(saved), sizeof(int));
}

INSTANTIATE_TEST_SUITE_P(Savers, CheckpointKill,
                         ::testing::Values(Scenario{"numbered", true, false}, Scenario{"one_name", false, false},
                                           Scenario{"sharded", true, true}, Scenario{"sharded_one_name", false, true}),
                         [](const auto& scenario) { return std::string(scenario.param.name); });

}  // namespace
}  // namespace weir::train
