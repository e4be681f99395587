// Exclusive running sum down the columns of a row-major [T][C] matrix:  out[t][c] = in[0][c] + ... + in[t-1][c].
//
// Three passes: sums of chunks of CHUNK rows, running sums of those, then every chunk again with what stands before it.
// `chunk_sums` is workspace of ceil(T / CHUNK) * C floats.
#include <cuda_runtime.h>

#define CHUNK 64
#define COLS 128

__global__ void chunk_totals(const float* __restrict__ in, float* __restrict__ chunk_sums, int T, int C) {
  const int c = blockIdx.x * COLS + threadIdx.x;
  if (c >= C) return;
  const int first = blockIdx.y * CHUNK;
  const int last = min(first + CHUNK, T);
  float s = 0.f;
#pragma unroll 8
  for (int t = first; t < last; ++t) s += in[(size_t)t * C + c];
  chunk_sums[(size_t)blockIdx.y * C + c] = s;
}

__global__ void scan_totals(float* chunk_sums, int chunks, int C) {
  const int c = blockIdx.x * COLS + threadIdx.x;
  if (c >= C) return;
  float before = 0.f;
  for (int k = 0; k < chunks; ++k) {
    const float s = chunk_sums[(size_t)k * C + c];
    chunk_sums[(size_t)k * C + c] = before;
    before += s;
  }
}

__global__ void scan_chunks(const float* __restrict__ in, const float* __restrict__ chunk_sums, float* __restrict__ out, int T,
                            int C) {
  const int c = blockIdx.x * COLS + threadIdx.x;
  if (c >= C) return;
  const int first = blockIdx.y * CHUNK;
  const int last = min(first + CHUNK, T);
  float s = chunk_sums[(size_t)blockIdx.y * C + c];
#pragma unroll 8
  for (int t = first; t < last; ++t) {
    const float v = in[(size_t)t * C + c];
    out[(size_t)t * C + c] = s;
    s += v;
  }
}

void cumsum_dim0(cudaStream_t stream, const float* in, float* out, float* chunk_sums, int T, int C) {
  if (T <= 0 || C <= 0) return;
  const int chunks = (T + CHUNK - 1) / CHUNK;
  const dim3 grid((C + COLS - 1) / COLS, chunks);
  chunk_totals<<<grid, COLS, 0, stream>>>(in, chunk_sums, T, C);
  scan_totals<<<grid.x, COLS, 0, stream>>>(chunk_sums, chunks, C);
  scan_chunks<<<grid, COLS, 0, stream>>>(in, chunk_sums, out, T, C);
}
