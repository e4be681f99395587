#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// A warp for each row, two columns for each lane. Where rows begin at words, stores are of words: the last one of an odd number of columns brings its
// neighbour along.
template <bool kWords>
__global__ void __launch_bounds__(256) store_kernel(__half* out, const float* x, int R, int C, int rest) {
  long long r = (long long)blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= R) return;
  __half* row = out + r * (C + rest);
  const float* from = x + r * C;
  for (int c = 2 * (threadIdx.x % 32); c < C; c += 64) {
    if (kWords) {
      __half2 word = *reinterpret_cast<__half2*>(row + c);
      word.x = __float2half(from[c]);
      if (c + 1 < C) word.y = __float2half(from[c + 1]);
      *reinterpret_cast<__half2*>(row + c) = word;
    } else {
      row[c] = __float2half(from[c]);
      if (c + 1 < C) row[c + 1] = __float2half(from[c + 1]);
    }
  }
}

void store_columns(__half* out, const float* x, int R, int C, int rest, cudaStream_t stream) {
  if (R <= 0 || C <= 0 || rest < 0) return;
  unsigned blocks = (unsigned)(((size_t)R + 7) / 8);
  if ((C + rest) % 2 == 0 && (size_t)out % 4 == 0)
    store_kernel<true><<<blocks, 256, 0, stream>>>(out, x, R, C, rest);
  else
    store_kernel<false><<<blocks, 256, 0, stream>>>(out, x, R, C, rest);
}
