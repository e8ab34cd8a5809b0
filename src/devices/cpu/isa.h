#pragma once

namespace weir::cpu {

// What the processor offers, from the widest down. One binary holds a build of the hot loops for each level; the level
// is found once, at the first call.
enum class Isa { Portable, Avx2, Avx512 };

Isa isa();
const char* isa_name(Isa isa);

}  // namespace weir::cpu
