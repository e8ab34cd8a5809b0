#pragma once

namespace weir::accelerator {

// The tiled product that matrix products and convolutions share: a group of 64 items computes 32 x 32 results, each
// item 4 x 4 of them, from tiles of both operands in the group's memory. GEMM(m, n, k, ...) expects macros LOAD_A(m,
// k), LOAD_B(k, n) and STORE(m, n, value); A_BY_K and B_BY_N say along which index neighbours lie side by side in
// memory. Groups are numbered by tile, then by part of k ([k_begin, k_end)), then by batch.
inline constexpr const char* kGemmText = R"kernel(
#define TILE 32
#define DEPTH 16
#define GEMM(M, N, K_BEGIN, K_END, TILE_NUMBER, A_BY_K, B_BY_N) \
  LOCAL(T, as, DEPTH * TILE); \
  LOCAL(T, bs, DEPTH * TILE); \
  PRIVATE(T, acc, 16); \
  const int across = ((N) + TILE - 1) / TILE; \
  const int m0 = (TILE_NUMBER) / across * TILE, n0 = (TILE_NUMBER) % across * TILE; \
  ITEMS(i) { \
    for (int q = 0; q < 16; ++q) MINE(acc, i)[q] = 0; \
  } \
  for (int k0 = (K_BEGIN); k0 < (K_END); k0 += DEPTH) { \
    ITEMS(i) { \
      for (int q = i; q < DEPTH * TILE; q += GROUP_ITEMS) { \
        const int ak = (A_BY_K) ? q % DEPTH : q / TILE, am = (A_BY_K) ? q / DEPTH : q % TILE; \
        T value = 0; \
        if (m0 + am < (M) && k0 + ak < (K_END)) { LOAD_A(value, m0 + am, k0 + ak) } \
        as[ak * TILE + am] = value; \
        const int bk = (B_BY_N) ? q / TILE : q % DEPTH, bn = (B_BY_N) ? q % TILE : q / DEPTH; \
        value = 0; \
        if (n0 + bn < (N) && k0 + bk < (K_END)) { LOAD_B(value, k0 + bk, n0 + bn) } \
        bs[bk * TILE + bn] = value; \
      } \
    } \
    BARRIER; \
    ITEMS(i) { \
      const int r = i / 8 * 4, s = i % 8 * 4; \
      for (int k = 0; k < DEPTH; ++k) { \
        for (int u = 0; u < 4; ++u) { \
          const T a = as[k * TILE + r + u]; \
          for (int v = 0; v < 4; ++v) MINE(acc, i)[u * 4 + v] += a * bs[k * TILE + s + v]; \
        } \
      } \
    } \
    BARRIER; \
  } \
  ITEMS(i) { \
    const int r = i / 8 * 4, s = i % 8 * 4; \
    for (int u = 0; u < 4; ++u) { \
      for (int v = 0; v < 4; ++v) { \
        const int m = m0 + r + u, n = n0 + s + v; \
        if (m < (M) && n < (N)) { STORE(m, n, MINE(acc, i)[u * 4 + v]) } \
      } \
    } \
  }
#define ACTIVATE(x, how) ((how) == 0 || x > 0 ? ((how) == 2 && x > 6 ? (T)6 : x) : (x != x ? x : (T)0))
)kernel";

}  // namespace weir::accelerator
