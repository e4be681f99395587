// Distances between two sets of vectors, and the k nearest of a point cloud.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

// ---- all pairs ------------------------------------------------------------------------------

__global__ void pairwise_l2(const __half* __restrict__ x, const __half* __restrict__ y, float* __restrict__ dist,
                            int nx, int ny, int dim)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const __half* a = x + (size_t)i * dim;
    const __half* b = y + (size_t)j * dim;
    float sum = 0.0f;
    for (int k = 0; k < dim; k++) {
        float d = __half2float(a[k]) - __half2float(b[k]);
        sum += d * d;
    }
    dist[(size_t)i * ny + j] = sqrtf(sum);
}

extern "C" int cdist_l2_half(const __half* x, const __half* y, float* dist, int nx, int ny, int dim)
{
    dim3 threads(16, 16);
    dim3 blocks((ny + threads.x - 1) / threads.x, (nx + threads.y - 1) / threads.y);
    pairwise_l2<<<blocks, threads>>>(x, y, dist, nx, ny, dim);
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

// ---- k nearest neighbours in 3D -----------------------------------------------------------------

#define KNN_MAX_K 16

// One thread for each query. The candidates so far are kept sorted; on equal distances the lower index stays in front.
__global__ void knn_brute_kernel(const float* __restrict__ query, const float* __restrict__ points,
                                 int* __restrict__ idx, float* __restrict__ dist2, int nq, int np, int k)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= nq) return;

    const float qx = query[3 * q + 0];
    const float qy = query[3 * q + 1];
    const float qz = query[3 * q + 2];

    float best[KNN_MAX_K];
    int best_i[KNN_MAX_K];
    for (int t = 0; t < k; t++) {
        best[t] = INFINITY;
        best_i[t] = -1;
    }

    for (int p = 0; p < np; p++) {
        const float dx = points[3 * p + 0] - qx;
        const float dy = points[3 * p + 1] - qy;
        const float dz = points[3 * p + 2] - qz;
        const float d = dx * dx + dy * dy + dz * dz;
        if (d < best[k - 1]) {
            int t = k - 1;
            while (t > 0 && best[t - 1] > d) {
                best[t] = best[t - 1];
                best_i[t] = best_i[t - 1];
                t--;
            }
            best[t] = d;
            best_i[t] = p;
        }
    }

    for (int t = 0; t < k; t++) {
        idx[(size_t)q * k + t] = best_i[t];
        dist2[(size_t)q * k + t] = best[t];
    }
}

extern "C" int knn_brute(const float* query, const float* points, int* idx, float* dist2, int nq, int np, int k,
                         cudaStream_t stream)
{
    if (k < 1 || k > KNN_MAX_K) return -1;
    const int threads = 128;
    knn_brute_kernel<<<(nq + threads - 1) / threads, threads, 0, stream>>>(query, points, idx, dist2, nq, np, k);
    return cudaGetLastError() == cudaSuccess ? 0 : -2;
}
