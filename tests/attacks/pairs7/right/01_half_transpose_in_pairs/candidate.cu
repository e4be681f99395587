#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>


// Tiles of 64 x 64. Where all rows are whole words, a word is two neighbours of a row on the way in, and two of a column on the way out:
// they are put together from two rows of the tile. 33 words a row, so that neither way meets in a bank.
template <bool kWords>
__global__ void __launch_bounds__(256) transpose_kernel(__half* y, const __half* x, int R, int C, unsigned across) {
  __shared__ uint32_t tile[64][33];
  size_t r0 = (size_t)(blockIdx.x / across) * 64, c0 = (size_t)(blockIdx.x % across) * 64;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < 64; k += 8) {
    size_t r = r0 + k + warp, c = c0 + 2 * lane;
    if (r >= (size_t)R || c >= (size_t)C) continue;
    const unsigned short* from = reinterpret_cast<const unsigned short*>(x) + r * C + c;
    if (kWords) tile[k + warp][lane] = *reinterpret_cast<const uint32_t*>(from);
    else tile[k + warp][lane] = from[0] | (c + 1 < (size_t)C ? (uint32_t)from[1] << 16 : 0u);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 64; k += 8) {
    size_t c = c0 + k + warp, r = r0 + 2 * lane;
    if (r >= (size_t)R || c >= (size_t)C) continue;
    int word = (k + warp) / 2, shift = (k + warp) % 2 * 16;
    uint32_t first = tile[2 * lane][word] >> shift & 0xffffu;
    bool both = r + 1 < (size_t)R;
    uint32_t second = both ? tile[2 * lane + 1][word] >> shift & 0xffffu : 0u;
    unsigned short* to = reinterpret_cast<unsigned short*>(y) + c * R + r;
    if (kWords) *reinterpret_cast<uint32_t*>(to) = first | second << 16;
    else to[0] = (unsigned short)first;
    if (!kWords && both) to[1] = (unsigned short)second;
  }
}

void transpose_half(__half* y, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  size_t across = ((size_t)C + 63) / 64, blocks = across * (((size_t)R + 63) / 64);
  bool words = (R | C) % 2 == 0 && ((size_t)x | (size_t)y) % 4 == 0;
  if (words) transpose_kernel<true><<<(unsigned)blocks, 256, 0, stream>>>(y, x, R, C, (unsigned)across);
  else transpose_kernel<false><<<(unsigned)blocks, 256, 0, stream>>>(y, x, R, C, (unsigned)across);
}
