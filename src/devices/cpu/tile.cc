#include "devices/cpu/tile.h"

#include "devices/cpu/isa.h"
#include "devices/cpu/tile_table.h"

namespace weir::cpu {
namespace {

const TileTable& table() {
#if defined(__x86_64__)
  static const TileTable& chosen = isa() == Isa::Avx512 ? avx512::kTileTable
                                   : isa() == Isa::Avx2 ? avx2::kTileTable
                                                        : portable::kTileTable;
  return chosen;
#else
  return portable::kTileTable;
#endif
}

}  // namespace

UnaryTile unary_tile(UnaryFn fn) { return table().unary[static_cast<int>(fn)]; }
BinaryTile binary_tile(BinaryFn fn, Operands operands) {
  return table().binary[static_cast<int>(fn)][static_cast<int>(operands)];
}
SelectBytes select_bytes(int64_t size, Operands operands) {
  const int by_size = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return table().select_bytes[by_size][static_cast<int>(operands)];
}
SelectTile select_tile(Operands operands) { return table().select[static_cast<int>(operands)]; }

void half_to_float(const uint16_t* x, float* y, int64_t n) { table().half_to_float(x, y, n); }
void float_to_half(const float* x, uint16_t* y, int64_t n) { table().float_to_half(x, y, n); }
void bfloat16_to_float(const uint16_t* x, float* y, int64_t n) { table().bfloat16_to_float(x, y, n); }
void float_to_bfloat16(const float* x, uint16_t* y, int64_t n) { table().float_to_bfloat16(x, y, n); }
void int32_to_float(const int32_t* x, float* y, int64_t n) { table().int32_to_float(x, y, n); }
void float_to_int32(const float* x, int32_t* y, int64_t n) { table().float_to_int32(x, y, n); }
void int64_to_float(const int64_t* x, float* y, int64_t n) { table().int64_to_float(x, y, n); }
void float_to_int64(const float* x, int64_t* y, int64_t n) { table().float_to_int64(x, y, n); }
void uint8_to_float(const uint8_t* x, float* y, int64_t n) { table().uint8_to_float(x, y, n); }
void float_to_uint8(const float* x, uint8_t* y, int64_t n) { table().float_to_uint8(x, y, n); }
void bool_to_float(const uint8_t* x, float* y, int64_t n) { table().bool_to_float(x, y, n); }
void float_to_bool(const float* x, uint8_t* y, int64_t n) { table().float_to_bool(x, y, n); }
void spread_elements(const float* x, int64_t run, int64_t skip, int64_t n, float* y) {
  table().spread_elements(x, run, skip, n, y);
}
void repeat_run(const float* x, int64_t run, int64_t skip, int64_t n, float* y) {
  table().repeat_run(x, run, skip, n, y);
}

}  // namespace weir::cpu
