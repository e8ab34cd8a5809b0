#include "devices/accelerator/launch.h"

#include <algorithm>
#include <limits>

#include "graph/op.h"

namespace weir::accelerator {
namespace {

constexpr const char* kCheckSource = R"kernel(
KERNEL(check_range, BUFFER(T, x), BUFFER(i32, flag), int n, i64 least, i64 limit) {
  OPEN(T, x); OPEN(i32, flag);
  FOR_EACH(i, n) {
    if (x[i] < least || x[i] >= limit) ATOMIC_MIN(&flag[0], i);
  }
}
KERNEL(name_bad, BUFFER(T, x), BUFFER(i32, flag)) {
  OPEN(T, x); OPEN(i32, flag);
  FOR_EACH(i, 1) {
    if (flag[0] != NOTHING_BAD) {
      i64 value = (i64)x[flag[0]];
      flag[1] = (i32)(u32)(value & 0xffffffff);
      flag[2] = (i32)(value >> 32);
    }
  }
}
)kernel";
const KernelDef kCheckRange(kCheckSource, "check_range"), kNameBad(kCheckSource, "name_bad");

std::string coordinates(const Shape& shape, int64_t place) {
  std::string text;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int64_t size = std::max<int64_t>(1, shape[d]);
    text = std::to_string(place % size) + (text.empty() ? "" : ",") + text;
    place /= size;
  }
  return "[" + text + "]";
}

}  // namespace

int32_t small_int(int64_t n) {
  if (n > std::numeric_limits<int32_t>::max()) {
    throw error(Code::Unimplemented, "the device's kernels count to 2^31 - 1; this one would count to {}", n);
  }
  return static_cast<int32_t>(n);
}

void Launch::items(int64_t n) {
  small_int(n);
  const int64_t most = int64_t{current.engine->driver().info().units} * 32;
  groups(std::clamp<int64_t>((n + kGroupItems - 1) / kGroupItems, 1, most));
}

void Launch::groups(int64_t n) {
  if (n <= 0) return;
  Engine& engine = *current.engine;
  current.memory->count_launch();
  engine.driver().launch(engine.kernel(kernel_), small_int(n), {arguments_, static_cast<size_t>(count_)});
}

Tensor temporary(DType dtype, const Shape& shape) { return current.memory->place(dtype, shape); }

void* check_range(KernelContext& c, int input, int64_t limit, const char* message, bool negative_is_good) {
  const std::string who = fmt::format("{} '{}': ", c.node().op().name, c.node().name());
  void* flag = current.memory->check_later([=, shape = c.shape(input)](int64_t place, int64_t value) {
    return Error(Code::InvalidArgument, who + fmt::format(fmt::runtime(message), fmt::arg("place", place),
                                                          fmt::arg("where", coordinates(shape, place)),
                                                          fmt::arg("value", value), fmt::arg("limit", limit)));
  });
  const int64_t n = c.elements(input);
  const int64_t least = negative_is_good ? std::numeric_limits<int64_t>::min() : 0;
  const DType type = c.dtype(input);
  Launch(kCheckRange.of(type)).buffer(c.raw_input(input)).buffer(flag).count(n).value(least).value(limit).items(n);
  Launch(kNameBad.of(type)).buffer(c.raw_input(input)).buffer(flag).items(1);
  return flag;
}

}  // namespace weir::accelerator
