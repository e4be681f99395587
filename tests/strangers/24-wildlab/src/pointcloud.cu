// Mean of the features of all points in a voxel. Points lie in the unit cube; those outside go to the border cells.
#include <cuda_runtime.h>

#define DIVUP(a, b) (((a) + (b)-1) / (b))

__device__ int cell_of(float p, int res)
{
    int c = (int)(p * res);
    return max(0, min(c, res - 1));
}

__global__ void count_points(const float* xyz, int* count, int n, int res)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = (cell_of(xyz[i * 3 + 2], res) * res + cell_of(xyz[i * 3 + 1], res)) * res + cell_of(xyz[i * 3], res);
        atomicAdd(&count[v], 1);
    }
}

__global__ void scatter_features(const float* xyz, const float* feat, float* grid, int n, int channels, int res)
{
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (long long)n * channels) return;
    int i = (int)(t / channels);
    int c = (int)(t % channels);
    int v = (cell_of(xyz[i * 3 + 2], res) * res + cell_of(xyz[i * 3 + 1], res)) * res + cell_of(xyz[i * 3], res);
    atomicAdd(&grid[(size_t)v * channels + c], feat[t]);
}

__global__ void divide_by_count(float* grid, const int* count, long long total, int channels)
{
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= total) return;
    int k = count[t / channels];
    if (k > 1) grid[t] /= (float)k;
}

cudaError_t voxel_mean_pool(const float* xyz, const float* feat, float* grid, int* count, int n, int channels, int res)
{
    const size_t cells = (size_t)res * res * res;
    cudaError_t err = cudaMemsetAsync(grid, 0, cells * channels * sizeof(float));
    if (err != cudaSuccess) return err;
    err = cudaMemsetAsync(count, 0, cells * sizeof(int));
    if (err != cudaSuccess) return err;

    const int threads = 256;
    count_points<<<DIVUP(n, threads), threads>>>(xyz, count, n, res);
    const long long work = (long long)n * channels;
    scatter_features<<<(unsigned)DIVUP(work, threads), threads>>>(xyz, feat, grid, n, channels, res);
    const long long total = (long long)cells * channels;
    divide_by_count<<<(unsigned)DIVUP(total, threads), threads>>>(grid, count, total, channels);
    return cudaGetLastError();
}
