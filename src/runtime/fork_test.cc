// Programs that fork while other threads are at work.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/child.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

// Not under sanitizers, whose own allocators keep locks that another thread held at the fork.
#if !defined(WEIR_THREAD_SANITIZER) && !defined(__SANITIZE_ADDRESS__)
// The thread that makes sessions holds the locks of pools and lanes half of the time; the child must find them free.
TEST(Fork, AChildMakesSessionsThoughTheParentWasMakingSome) {
  Graph g;
  Output x = g.placeholder(float32, {2}), y = reduce_sum(x * 2.f);
  const Tensor xs(std::vector<float>{1, 2});
  auto run = [&](int threads) {
    Session session(g, {.intra_op_parallelism_threads = threads, .virtual_gpus = {.count = 0}});
    return session.run(y, {{x, xs}}).scalar<float>();
  };
  EXPECT_EQ(run(1), 6);  // with everything that is made when it is first used
  std::atomic<bool> stop = false;
  std::thread makes([&] {
    while (!stop) Session(g, {.intra_op_parallelism_threads = 3});
  });
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(testing::in_a_child([&] { return run(2) == 6; }));
  stop = true;
  makes.join();
}
#endif

}  // namespace
}  // namespace weir
