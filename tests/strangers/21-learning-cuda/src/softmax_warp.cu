// softmax, a warp per row, with cooperative groups. 3 warps per block.
#include "helpers.cuh"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void softmaxWarp(const __nv_bfloat16* x, float* y, int R, int C) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int r = blockIdx.x * 3 + warp.meta_group_rank();
    if (r >= R) return;

    float m = -INFINITY;
    for (int c = warp.thread_rank(); c < C; c += 32) m = max(m, __bfloat162float(x[r * C + c]));
    for (int o = 16; o >= 1; o /= 2) m = max(m, warp.shfl_xor(m, o));

    float s = 0;
    for (int c = warp.thread_rank(); c < C; c += 32) {
        float e = __expf(__bfloat162float(x[r * C + c]) - m);
        y[r * C + c] = e;  // keep it, so we don't need to compute it again
        s += e;
    }
    for (int o = 16; o >= 1; o /= 2) s += warp.shfl_xor(s, o);
    for (int c = warp.thread_rank(); c < C; c += 32) y[r * C + c] = y[r * C + c] / s;
}

void softmax(const __nv_bfloat16* x, float* y, int R, int C) {
    softmaxWarp<<<(R + 2) / 3, 96>>>(x, y, R, C);
    checkLaunch();
}
