cudaError_t voxel_mean_pool(const float* xyz, const float* feat, float* grid, int* count, int n, int channels, int res)
{
    const size_t cells = (size_t)res * res * res;
    cudaError_t err = cudaMemsetAsync(grid, 0, cells * channels * sizeof(float));
    if (err != cudaSuccess) return err;
    err = cudaMemsetAsync(count, 0, cells * sizeof(int));
    if (err != cudaSuccess) return err;

    const int width = channels < 1 ? 1 : channels > 256 ? 256 : channels;
    const dim3 block(width, 256 / width);
    if (n > 0 && cells > 0) {
        const size_t blocks = DIVUP((size_t)n, POINTS);
        accumulate_points<<<(unsigned)blocks, block>>>(xyz, feat, grid, count, n, channels, res);
    }
    if (cells > 0 && channels > 0) {
        const size_t blocks = DIVUP(cells, CELLS);
        divide_cells<<<(unsigned)blocks, block>>>(grid, count, cells, channels);
    }
    return cudaGetLastError();
}