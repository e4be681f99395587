// Acoustic wave equation, second order in time and space, on a regular grid with fixed walls.
//   u(t+1) = 2 u(t) - u(t-1) + courant2 * laplace(u(t))
// courant2 = (c dt / h)^2 for every cell. u(t+1) is written over u(t-1).
// Blocks march in z; the plane's tile with its halo is in shared memory, the neighbours in z are
// in registers.
#include <cuda_runtime.h>
#include <utility>

template <int BX, int BY>
__global__ void wave_step(float* __restrict__ prev, const float* __restrict__ cur,
                          const float* __restrict__ courant2, int nx, int ny, int nz)
{
    __shared__ float tile[BY + 2][BX + 2];

    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    const bool inside = x < nx && y < ny;
    const bool interior = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    const size_t plane = (size_t)nx * ny;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    size_t i = (size_t)y * nx + x;

    float below = inside ? cur[i] : 0.f;
    i += plane;
    float here = inside ? cur[i] : 0.f;

    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = inside ? cur[i + plane] : 0.f;

        tile[ty][tx] = here;
        if (inside) {
            if (threadIdx.x == 0 && x > 0)           tile[ty][0] = cur[i - 1];
            if (threadIdx.x == BX - 1 && x < nx - 1) tile[ty][BX + 1] = cur[i + 1];
            if (threadIdx.y == 0 && y > 0)           tile[0][tx] = cur[i - nx];
            if (threadIdx.y == BY - 1 && y < ny - 1) tile[BY + 1][tx] = cur[i + nx];
        }
        __syncthreads();

        if (interior) {
            float lap = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]
                      + below + above - 6.f * here;
            prev[i] = 2.f * here - prev[i] + courant2[i] * lap;
        }
        __syncthreads();
        below = here;
        here = above;
    }
}

// After an even number of steps u1 is the newest field, after an odd number u0.
void wave3d_advance(float* u0, float* u1, const float* courant2, int nx, int ny, int nz, int steps,
                    cudaStream_t stream)
{
    if (nx < 3 || ny < 3 || nz < 3) return;   // walls only
    const int BX = 32, BY = 8;
    dim3 block(BX, BY);
    dim3 grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    float *prev = u0, *cur = u1;
    for (int s = 0; s < steps; s++) {
        wave_step<BX, BY><<<grid, block, 0, stream>>>(prev, cur, courant2, nx, ny, nz);
        std::swap(prev, cur);
    }
}
