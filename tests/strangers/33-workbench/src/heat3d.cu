// Explicit steps of the heat equation with a conductivity that varies in space; insulated walls. Unit spacing.
//   u' = u + dt * sum over the 6 faces of mean(kappa) * (neighbour - u)
#include <cuda_runtime.h>

#define IDX(z, y, x) (((size_t)(z) * ny + (y)) * nx + (x))

__device__ inline float flux(const float* u, const float* kappa, size_t here, size_t there)
{
    return 0.5f * (kappa[here] + kappa[there]) * (u[there] - u[here]);
}

__global__ void heat_step(const float* __restrict__ u, const float* __restrict__ kappa, float* __restrict__ un, int nx,
                          int ny, int nz, float dt)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;

    const size_t i = IDX(z, y, x);
    float f = 0.0f;
    if (x > 0) f += flux(u, kappa, i, i - 1);
    if (x < nx - 1) f += flux(u, kappa, i, i + 1);
    if (y > 0) f += flux(u, kappa, i, i - nx);
    if (y < ny - 1) f += flux(u, kappa, i, i + nx);
    if (z > 0) f += flux(u, kappa, i, i - (size_t)nx * ny);
    if (z < nz - 1) f += flux(u, kappa, i, i + (size_t)nx * ny);
    un[i] = u[i] + dt * f;
}

// out holds the result; tmp is as large
extern "C" void heat3d_run(const float* u0, const float* kappa, float* out, float* tmp, int nx, int ny, int nz,
                           int steps, float dt, cudaStream_t stream)
{
    if (nx <= 0 || ny <= 0 || nz <= 0 || steps < 0) return;
    if (steps == 0) {
        cudaMemcpyAsync(out, u0, (size_t)nx * ny * nz * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        return;
    }
    const dim3 block(32, 4, 2);
    const dim3 grid((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2);
    const float* src = u0;
    for (int s = 0; s < steps; s++) {
        float* dst = (steps - 1 - s) % 2 == 0 ? out : tmp;
        heat_step<<<grid, block, 0, stream>>>(src, kappa, dst, nx, ny, nz, dt);
        src = dst;
    }
}
