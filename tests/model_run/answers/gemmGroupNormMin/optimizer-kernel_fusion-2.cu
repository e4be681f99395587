// out[row] = min over groups of part[row][group] + shift; a warp per row
__global__ void __launch_bounds__(kThreads)
rowMinKernel(float* __restrict__ out, const float* __restrict__ part, unsigned rows, unsigned groups, float shift) {
    const unsigned lane = threadIdx.x % 32, row = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
    if (row >= rows) return;  // the whole warp
    float best = __int_as_float(0x7fffffff);  // NaN, which fminf drops
    for (unsigned g = lane; g < groups; g += 32) best = fminf(best, part[(size_t)row * groups + g]);
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) best = fminf(best, __shfl_xor_sync(0xffffffffu, best, o));
    if (lane == 0) out[row] = best + shift;
}

void gemmGroupNormMin(float* out, const float* x, const float* weight, const float* bias, const float* gamma,
                      const float* beta, float* workspace, int rows, int features, int inner, int groups, float shift,
                      cudaStream_t stream) {
    if (rows <= 0 || features <= 0 || groups <= 0) return;
    const unsigned tilesM = (unsigned)(rows - 1) / kTileM + 1;
    const unsigned tilesN = (unsigned)(features - 1) / kTileN + 1;
    const unsigned tiles = (unsigned)((size_t)tilesM * tilesN);
    const unsigned depth = inner > 0 ? inner : 0;
    const bool aligned = ((size_t)x | (size_t)weight) % 16 == 0 && inner % 4 == 0;
    if (features % kTileN == 0 && features / kTileN == groups) {  // the columns of a tile are one group
        if (aligned) {
            CUDA_CHECK(cudaFuncSetAttribute(tiledLinear<true, true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            kTileBytes));
            tiledLinear<true, true><<<tiles, kThreads, kTileBytes, stream>>>(workspace, x, weight, bias, gamma, beta, 1e-5f,
                                                                       (unsigned)rows, (unsigned)features, depth, tilesM);
        } else {
            CUDA_CHECK(cudaFuncSetAttribute(tiledLinear<false, true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            kTileBytes));
            tiledLinear<false, true><<<tiles, kThreads, kTileBytes, stream>>>(workspace, x, weight, bias, gamma, beta, 1e-5f,
                                                                       (unsigned)rows, (unsigned)features, depth, tilesM);
        }
        CUDA_CHECK(cudaGetLastError());
        rowMinKernel<<<(unsigned)(rows - 1) / (kThreads / 32) + 1, kThreads, 0, stream>>>(out, workspace, (unsigned)rows,
                                                                                         (unsigned)groups, shift);
    } else {
        if (aligned) {
            CUDA_CHECK(cudaFuncSetAttribute(tiledLinear<true, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            kTileBytes));
            tiledLinear<true, false><<<tiles, kThreads, kTileBytes, stream>>>(workspace, x, weight, bias, gamma, beta, 1e-5f,
                                                                       (unsigned)rows, (unsigned)features, depth, tilesM);
        } else {
            CUDA_CHECK(cudaFuncSetAttribute(tiledLinear<false, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            kTileBytes));
            tiledLinear<false, false><<<tiles, kThreads, kTileBytes, stream>>>(workspace, x, weight, bias, gamma, beta, 1e-5f,
                                                                       (unsigned)rows, (unsigned)features, depth, tilesM);
        }
        CUDA_CHECK(cudaGetLastError());
        normMinKernel<<<rows, kThreads, 0, stream>>>(out, workspace, gamma, beta, features, groups, features / groups,
                                                     1e-5f, shift);
    }
    CUDA_CHECK(cudaGetLastError());
}
