#include <cuda_runtime.h>
#include <float.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// squared distances between all rows of a[n][d] and b[m][d]
__global__ void pairwise(const float *a, const float *b, float *dist, int n, int m, int d)
{
    __shared__ float sa[16][17], sb[16][17];
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    int brow = blockIdx.x * 16 + threadIdx.y;
    float acc = 0.f;
    for (int k0 = 0; k0 < d; k0 += 16) {
        int k = k0 + threadIdx.x;
        sa[threadIdx.y][threadIdx.x] = row < n && k < d ? a[row * d + k] : 0.f;
        sb[threadIdx.y][threadIdx.x] = brow < m && k < d ? b[brow * d + k] : 0.f;
        __syncthreads();
        for (int j = 0; j < 16; j++) {
            float diff = sa[threadIdx.y][j] - sb[threadIdx.x][j];
            acc += diff * diff;
        }
        __syncthreads();
    }
    if (row < n && col < m) dist[row * m + col] = acc;
}

void pairwise_sq_dist(const float *a, const float *b, float *dist, int n, int m, int d)
{
    pairwise<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, dist, n, m, d);
}

// nearest reference point of each query: 3-D points as separate coordinates. Ties: the first.
__global__ void nearest(const float *qx, const float *qy, const float *qz, const float *rx, const float *ry, const float *rz,
                        int *idx, int nq, int nr)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= nq) return;
    float x = qx[q], y = qy[q], z = qz[q];
    float best = FLT_MAX;
    int where = -1;
    for (int r = 0; r < nr; r++) {
        float dx = x - rx[r], dy = y - ry[r], dz = z - rz[r];
        float dd = dx * dx + dy * dy + dz * dz;
        if (dd < best) { best = dd; where = r; }
    }
    idx[q] = where;
}

void nearest_neighbour(const float *qx, const float *qy, const float *qz, const float *rx, const float *ry, const float *rz,
                       int *idx, int nq, int nr)
{
    nearest<<<(nq + 127) / 128, 128>>>(qx, qy, qz, rx, ry, rz, idx, nq, nr);
}

// k-means, one iteration: assignment, sums with atomics, new centres
__global__ void assign(const float *points, const float *centres, int *label, int n, int k, int d)
{
    extern __shared__ float sc[];
    for (int i = threadIdx.x; i < k * d; i += blockDim.x) sc[i] = centres[i];
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    float best = FLT_MAX;
    int arg = 0;
    for (int c = 0; c < k; c++) {
        float s = 0.f;
        for (int j = 0; j < d; j++) {
            float t = points[p * d + j] - sc[c * d + j];
            s += t * t;
        }
        if (s < best) { best = s; arg = c; }
    }
    label[p] = arg;
}

void kmeans_assign(const float *points, const float *centres, int *label, int n, int k, int d)
{
    assign<<<(n + 127) / 128, 128, k * d * sizeof(float)>>>(points, centres, label, n, k, d);
}

__global__ void accumulate(const float *points, const int *label, float *sums, int *counts, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * d) return;
    int p = i / d, j = i % d;
    atomicAdd(&sums[label[p] * d + j], points[i]);
    if (j == 0) atomicAdd(&counts[label[p]], 1);
}

__global__ void divide(const float *sums, const int *counts, const float *old, float *centres, int k, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < k * d) centres[i] = counts[i / d] > 0 ? sums[i] / counts[i / d] : old[i];
}

void kmeans_update(const float *points, const int *label, const float *old, float *sums, int *counts, float *centres,
                   int n, int k, int d)
{
    cudaMemset(sums, 0, k * d * sizeof(float));
    cudaMemset(counts, 0, k * sizeof(int));
    accumulate<<<(n * d + 255) / 256, 256>>>(points, label, sums, counts, n, d);
    divide<<<(k * d + 255) / 256, 256>>>(sums, counts, old, centres, k, d);
}

// connected components on a line of cells by relaxation: repeats until nothing changes any more
__global__ void relax(int *label, const int *same, int *changed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1) return;
    if (same[i] && label[i + 1] > label[i]) {
        atomicMin(&label[i + 1], label[i]);
        *changed = 1;
    }
}

void components(int *label, const int *same, int *changed, int n)
{
    int host = 1;
    while (host) {
        cudaMemset(changed, 0, sizeof(int));
        relax<<<(n + 127) / 128, 128>>>(label, same, changed, n);
        cudaMemcpy(&host, changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
}

// normalise rows to unit L1 norm, with cooperative groups: a tile of 16 threads per row
__global__ void l1norm_kernel(const float *x, float *y, int rows, int cols)
{
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
    int row = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16;
    float s = 0.f;
    if (row < rows)
        for (int c = tile.thread_rank(); c < cols; c += 16) s += fabsf(x[row * cols + c]);
    for (int o = 8; o > 0; o /= 2) s += tile.shfl_xor(s, o);
    if (row < rows)
        for (int c = tile.thread_rank(); c < cols; c += 16) y[row * cols + c] = x[row * cols + c] / fmaxf(s, 1e-12f);
}

void l1_normalize(const float *x, float *y, int rows, int cols)
{
    l1norm_kernel<<<(rows + 7) / 8, 128>>>(x, y, rows, cols);
}
