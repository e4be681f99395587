#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rows of a (rows, cols) half array as bytes: scale[row] = amax / 127, q = round(x / scale) + 128. A block per row.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ inline unsigned char code(float v, float s) {
  return (unsigned char)(rintf(fminf(fmaxf(v / s, -127.0f), 127.0f)) + 128.0f);
}

__global__ void __launch_bounds__(128)
quantize_kernel(unsigned char* q, float* scale, const __half* x, int cols, bool packed) {
  __shared__ float tops[4];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const __half* row = x + (size_t)blockIdx.x * cols;
  unsigned char* dst = q + (size_t)blockIdx.x * cols;
  int pairs = packed ? cols / 2 : 0;
  float top = 0.0f;
  for (int j = threadIdx.x; j < pairs; j += 128) {
    float2 v = __half22float2(reinterpret_cast<const __half2*>(row)[j]);
    top = fmaxf(top, fmaxf(fabsf(v.x), fabsf(v.y)));
  }
  for (int j = 2 * pairs + threadIdx.x; j < cols; j += 128) top = fmaxf(top, fabsf(__half2float(row[j])));
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, warp.shfl_xor(top, d));
  if (warp.thread_rank() == 0) tops[warp.meta_group_rank()] = top;
  block.sync();
  top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
  float s = top > 0.0f ? top / 127.0f : 1.0f;
  if (block.thread_rank() == 0) scale[blockIdx.x] = s;
  for (int j = threadIdx.x; j < pairs; j += 128) {
    float2 v = __half22float2(reinterpret_cast<const __half2*>(row)[j]);
    uchar2 c = make_uchar2(code(v.x, s), code(v.y, s));
    reinterpret_cast<uchar2*>(dst)[j] = c;
  }
  for (int j = 2 * pairs + threadIdx.x; j < cols; j += 128) dst[j] = code(__half2float(row[j]), s);
}

void quantize_rows(unsigned char* q, float* scale, const __half* x, int rows, int cols) {
  bool packed = cols % 2 == 0 && (size_t)x % 4 == 0 && (size_t)q % 2 == 0;
  if (rows > 0) quantize_kernel<<<rows, 128>>>(q, scale, x, cols, packed);
}
