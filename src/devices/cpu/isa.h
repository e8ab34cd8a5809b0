#pragma once

namespace weir::cpu {

// What the processor offers, from the widest down. One binary holds a build of the hot loops for each level; the level
// is found once, at the first call.
enum class Isa { Portable, Avx2, Avx512 };

Isa isa();
const char* isa_name(Isa isa);

// Whether operations on 512 bits run in one piece, on up to two units, rather than as two halves: loads then fall
// behind the multiplications first. Thread-safe.
bool has_whole_avx512();

}  // namespace weir::cpu
