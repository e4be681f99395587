void gemmGroupNormMin(float* out, const float* x, const float* weight, const float* bias, const float* gamma,
                      const float* beta, float* workspace, int rows, int features, int inner, int groups, float shift,
                      cudaStream_t stream) {
    if (rows <= 0 || features <= 0 || groups <= 0) return;
    const unsigned tilesM = (unsigned)(rows - 1) / kTileM + 1;
    const unsigned tilesN = (unsigned)(features - 1) / kTileN + 1;
    const unsigned tiles = (unsigned)((size_t)tilesM * tilesN);
    const unsigned depth = inner > 0 ? inner : 0;
    if (((size_t)x | (size_t)weight) % 16 == 0 && inner % 4 == 0) {
        CUDA_CHECK(cudaFuncSetAttribute(tiledLinear<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, kTileBytes));
        tiledLinear<true><<<tiles, kThreads, kTileBytes, stream>>>(workspace, x, weight, bias, (unsigned)rows,
                                                                   (unsigned)features, depth, tilesM);
    } else {
        CUDA_CHECK(cudaFuncSetAttribute(tiledLinear<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, kTileBytes));
        tiledLinear<false><<<tiles, kThreads, kTileBytes, stream>>>(workspace, x, weight, bias, (unsigned)rows,
                                                                    (unsigned)features, depth, tilesM);
    }
    CUDA_CHECK(cudaGetLastError());
    normMinKernel<<<rows, kThreads, 0, stream>>>(out, workspace, gamma, beta, features, groups, features / groups, 1e-5f, shift);
    CUDA_CHECK(cudaGetLastError());
}