// night 10: one time step of the acoustic wave equation in 2D, eighth order in space, second in time
//   next = 2 cur - prev + (v dt)^2 laplacian(cur)         the outer four cells stay zero
#include <cuda_runtime.h>

#define R  4
#define BX 32
#define BZ 16

__constant__ float c_coef[R + 1] = {-205.0f / 72.0f, 8.0f / 5.0f, -1.0f / 5.0f, 8.0f / 315.0f, -1.0f / 560.0f};

__global__ void wave2d_o8_kernel(const float *cur, const float *prev, const float *vel, float *next, int nx, int nz,
                                 float dt, float inv_h2)
{
    __shared__ float tile[BZ + 2 * R][BX + 2 * R];

    int ix = blockIdx.x * BX + threadIdx.x;
    int iz = blockIdx.y * BZ + threadIdx.y;

    /* tile with its halo, zero where there is no grid */
    for (int z = threadIdx.y; z < BZ + 2 * R; z += BZ)
        for (int x = threadIdx.x; x < BX + 2 * R; x += BX) {
            int gx = blockIdx.x * BX + x - R;
            int gz = blockIdx.y * BZ + z - R;
            float v = 0.0f;
            if (gx >= 0 && gx < nx && gz >= 0 && gz < nz)
                v = cur[(size_t)gz * nx + gx];
            tile[z][x] = v;
        }
    __syncthreads();

    if (ix >= nx || iz >= nz)
        return;
    size_t at = (size_t)iz * nx + ix;
    if (ix < R || ix >= nx - R || iz < R || iz >= nz - R) {
        next[at] = 0.0f;
        return;
    }

    int tx = threadIdx.x + R, tz = threadIdx.y + R;
    float center = tile[tz][tx];
    float lap = 2.0f * c_coef[0] * center;
#pragma unroll
    for (int r = 1; r <= R; r++)
        lap += c_coef[r] * (tile[tz][tx - r] + tile[tz][tx + r] + tile[tz - r][tx] + tile[tz + r][tx]);

    float vdt = vel[at] * dt;
    next[at] = 2.0f * center - prev[at] + vdt * vdt * lap * inv_h2;
}

void wave2d_o8(const float *cur, const float *prev, const float *vel, float *next, int nx, int nz, float dt, float inv_h2)
{
    dim3 block(BX, BZ);
    dim3 grid((nx + BX - 1) / BX, (nz + BZ - 1) / BZ);
    wave2d_o8_kernel<<<grid, block>>>(cur, prev, vel, next, nx, nz, dt, inv_h2);
}
