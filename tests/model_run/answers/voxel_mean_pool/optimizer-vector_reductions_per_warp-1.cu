cudaError_t voxel_mean_pool(const float* xyz, const float* feat, float* grid, int* count, int n, int channels, int res)
{
    const size_t cells = (size_t)res * res * res;
    const bool wide = channels % 4 == 0 && ((size_t)feat | (size_t)grid) % 16 == 0;
    const int row = channels < 1 ? 0 : wide ? channels / 4 : channels; // accesses in a row

    if (cells > 0) {
        const size_t vectors = cells * row;
        const size_t all = DIVUP(vectors > cells ? vectors : cells, (size_t)THREADS);
        const unsigned blocks = all < 132 * 8 ? (unsigned)all : 132 * 8;
        if (wide) {
            clear_cells<4><<<blocks, THREADS>>>(grid, count, vectors, cells);
        } else {
            clear_cells<1><<<blocks, THREADS>>>(grid, count, vectors, cells);
        }
    }
    if (n > 0 && cells > 0) {
        const size_t blocks = DIVUP((size_t)n, (size_t)THREADS);
        if (wide) {
            accumulate_points<4><<<(unsigned)blocks, THREADS>>>(xyz, feat, grid, count, n, channels, res);
        } else {
            accumulate_points<1><<<(unsigned)blocks, THREADS>>>(xyz, feat, grid, count, n, channels, res);
        }
    }
    if (cells > 0 && channels > 0) {
        const int width = row > 256 ? 256 : row;
        const dim3 block(width, 256 / width);
        const size_t blocks = DIVUP(cells, (size_t)CELLS);
        if (wide) {
            divide_cells<4><<<(unsigned)blocks, block>>>(grid, count, cells, channels);
        } else {
            divide_cells<1><<<(unsigned)blocks, block>>>(grid, count, cells, channels);
        }
    }
    return cudaGetLastError();
}