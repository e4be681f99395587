// entry: softmax
// buffer: out f32 4096
// buffer: in f32 4096
// scalar: rows i32 32
// scalar: columns i32 128
// expect: launch softmax_kernel(out, in, 32, 128) 8x1x1 128x1x1
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void softmax_kernel(float* out, const float* in, int rows, int columns) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  float m = -INFINITY;
  for (int c = warp.thread_rank(); c < columns; c += warp.size()) m = fmaxf(m, in[row * columns + c]);
  m = cg::reduce(warp, m, cg::greater<float>{});
  float s = 0;
  for (int c = warp.thread_rank(); c < columns; c += warp.size()) s += expf(in[row * columns + c] - m);
  s = cg::reduce(warp, s, cg::plus<float>{});
  for (int c = warp.thread_rank(); c < columns; c += warp.size()) out[row * columns + c] = expf(in[row * columns + c] - m) / s;
}
void softmax(float* out, const float* in, int rows, int columns) {
  const int block = 128;
  softmax_kernel<<<(rows * 32 + block - 1) / block, block>>>(out, in, rows, columns);
}
