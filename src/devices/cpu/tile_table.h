#pragma once

#include "devices/cpu/tile.h"

namespace weir::cpu {

// Every tile function of one instruction set. tile.h picks the table; tests call each directly.
struct TileTable {
  UnaryTile unary[kUnaryFns];
  BinaryTile binary[kBinaryFns][kOperandKinds];
  SelectTile select[kOperandKinds];
  SelectBytes select_bytes[4][kOperandKinds];
  void (*half_to_float)(const uint16_t*, float*, int64_t);
  void (*float_to_half)(const float*, uint16_t*, int64_t);
  void (*bfloat16_to_float)(const uint16_t*, float*, int64_t);
  void (*float_to_bfloat16)(const float*, uint16_t*, int64_t);
  void (*int32_to_float)(const int32_t*, float*, int64_t);
  void (*float_to_int32)(const float*, int32_t*, int64_t);
  void (*int64_to_float)(const int64_t*, float*, int64_t);
  void (*float_to_int64)(const float*, int64_t*, int64_t);
  void (*uint8_to_float)(const uint8_t*, float*, int64_t);
  void (*float_to_uint8)(const float*, uint8_t*, int64_t);
  void (*bool_to_float)(const uint8_t*, float*, int64_t);
  void (*float_to_bool)(const float*, uint8_t*, int64_t);
  void (*spread_elements)(const float*, int64_t, int64_t, int64_t, float*);
  void (*repeat_run)(const float*, int64_t, int64_t, int64_t, float*);
};

namespace portable {
extern const TileTable kTileTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const TileTable kTileTable;
}
namespace avx512 {
extern const TileTable kTileTable;
}
#endif

}  // namespace weir::cpu
