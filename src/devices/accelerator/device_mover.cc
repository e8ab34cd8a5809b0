#include "devices/accelerator/device_mover.h"

namespace weir::accelerator {
namespace {

constexpr const char* kSource = R"kernel(
KERNEL(copy_box, BUFFER(T, from), BUFFER(T, to), int n, INTS sizes, INTS to_strides, INTS from_strides) {
  OPEN(T, from); OPEN(T, to);
  FOR_EACH(i, n) {
    int rest = i, a = 0, b = 0;
    for (int d = 7; d >= 0; --d) {
      int at = rest % sizes.v[d];
      rest /= sizes.v[d];
      a += at * to_strides.v[d];
      b += at * from_strides.v[d];
    }
    to[a] = from[b];
  }
}
KERNEL(copy_plane, BUFFER(T, from), BUFFER(T, to), int n, int columns, int to_row, int from_row) {
  OPEN(T, from); OPEN(T, to);
  FOR_EACH(i, n) {
    int row = i / columns, column = i % columns;
    to[row * to_row + column] = from[row * from_row + column];
  }
}
KERNEL(fill_value, BUFFER(T, to), int n, T value) {
  OPEN(T, to);
  FOR_EACH(i, n) { to[i] = value; }
}
)kernel";
const KernelDef kCopyBox(kSource, "copy_box"), kCopyPlane(kSource, "copy_plane"), kFill(kSource, "fill_value");

// Elements are moved, not computed with: their size is all that matters.
DType mover_type(size_t bytes) {
  switch (bytes) {
    case 1:
      return DType::Int8;
    case 2:
      return DType::Int16;
    case 4:
      return DType::Int32;
    case 8:
      return DType::Int64;
    default:
      throw error(Code::Unimplemented, "elements of {} bytes on the device", bytes);
  }
}

template <class V>
void fill(DType type, void* to, int64_t n, const void* value) {
  V v;
  std::memcpy(&v, value, sizeof v);
  Launch(kFill.of(type)).buffer(to).count(n).value(v).items(n);
}

void fill_from_host(size_t bytes, void* to, int64_t n, const void* value) {
  const DType type = mover_type(bytes);
  if (bytes == 1) return fill<int8_t>(type, to, n, value);
  if (bytes == 2) return fill<int16_t>(type, to, n, value);
  if (bytes == 4) return fill<int32_t>(type, to, n, value);
  fill<int64_t>(type, to, n, value);
}

}  // namespace

void DeviceMover::copy_box(DType dtype, const ops::StridedBox& box, void* to, const void* from) {
  using Way = DeviceMemory::Way;
  const size_t size = dtype_size(dtype);
  const int64_t n = box.elements();
  const bool packed = box.rank() == 0 || (box.rank() == 1 && box[0].to == 1 && box[0].from == 1);
  if (!holds(from)) {
    if (packed) return accelerator::current.memory->copy(to, from, static_cast<size_t>(n) * size, Way::FromHost);
    if (box.rank() == 1 && box[0].to == 1 && box[0].from == 0) return fill_from_host(size, to, n, from);
    throw error(Code::Internal, "a kernel on the device reads the host's memory");
  }
  if (packed) return accelerator::current.memory->copy(to, from, static_cast<size_t>(n) * size, Way::Within);
  const DType type = mover_type(size);
  if (box.rank() == 2 && box[1].to == 1 && box[1].from == 1) {
    Launch(kCopyPlane.of(type))
        .buffer(from)
        .buffer(to)
        .count(n)
        .count(box[1].size)
        .count(box[0].to)
        .count(box[0].from)
        .items(n);
    return;
  }
  if (box.rank() > 8) throw error(Code::Unimplemented, "moving elements in {} dimensions on the device", box.rank());
  Ints sizes, to_strides, from_strides;
  std::fill(std::begin(sizes.v), std::end(sizes.v), 1);
  for (int d = 0; d < box.rank(); ++d) {
    const int at = 8 - box.rank() + d;
    sizes.v[at] = small_int(box[d].size);
    to_strides.v[at] = small_int(box[d].to);
    from_strides.v[at] = small_int(box[d].from);
  }
  Launch(kCopyBox.of(type))
      .buffer(from)
      .buffer(to)
      .count(n)
      .value(sizes)
      .value(to_strides)
      .value(from_strides)
      .items(n);
}

void DeviceMover::zero(void* to, size_t bytes) {
  const bool words = bytes % 4 == 0;
  const int64_t n = static_cast<int64_t>(words ? bytes / 4 : bytes), nothing = 0;
  if (n > 0) fill_from_host(words ? 4 : 1, to, n, &nothing);
}

}  // namespace weir::accelerator
