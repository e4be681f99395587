#include <cuda_runtime.h>


// One pass with decoupled look-back over tiles of 1024. The word of a tile has its state above (0: nothing yet, 1: the
// sum of the tile, 2: the sum of everything up to it) and that sum below; as it is written and read as a whole, no
// fence is needed. Tiles are handed out by a ticket, so that those before are running or done.
__global__ void __launch_bounds__(256) offsets_kernel(unsigned* offsets, const unsigned* counts, unsigned* ticket,
                                                      volatile unsigned long long* words, int N) {
  __shared__ unsigned tile_of_block, carry, sums[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  int tile = tile_of_block, base = tile * 1024 + t * 4;
  unsigned v[4], sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sum += base + j < N ? counts[base + j] : 0;
    v[j] = sum;
  }
  unsigned scan = sum;
#pragma unroll
  for (int o = 1; o < 32; o *= 2) {
    unsigned u = __shfl_up_sync(0xffffffffu, scan, o);
    if (lane >= o) scan += u;
  }
  if (lane == 31) sums[warp] = scan;
  __syncthreads();
  unsigned before = scan - sum, total = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  if (warp == 0) {
    if (lane == 0) words[tile] = (tile == 0 ? 2ull : 1ull) << 32 | total;
    unsigned previous = 0;
    for (int p = tile - 1 - lane;; p -= 32) {
      unsigned long long word = 2ull << 32;  // before the first tile
      if (p >= 0) {
        do {
          word = words[p];
        } while (word >> 32 == 0);
      }
      __syncwarp();
      unsigned complete = __ballot_sync(0xffffffffu, word >> 32 == 2);
      unsigned part = complete == 0 || lane < __ffs(complete) ? (unsigned)word : 0;
      previous += __reduce_add_sync(0xffffffffu, part);
      if (complete != 0) break;
    }
    if (lane == 0) {
      if (tile > 0) words[tile] = 2ull << 32 | (previous + total);
      carry = previous;
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (base + j < N) offsets[base + j + 1] = carry + before + v[j];
  if (tile == 0 && t == 0) offsets[0] = 0;
}

void list_offsets(unsigned* offsets, const unsigned* counts, unsigned* ws, int N, cudaStream_t stream) {
  if (N < 0) return;
  if (N == 0) {
    cudaMemsetAsync(offsets, 0, sizeof(unsigned), stream);
    return;
  }
  int tiles = (N + 1023) / 1024;
  cudaMemsetAsync(ws, 0, sizeof(unsigned) * 2 * (1 + (size_t)tiles), stream);
  offsets_kernel<<<tiles, 256, 0, stream>>>(offsets, counts, ws, (volatile unsigned long long*)(ws + 2), N);
}
