// SPH: density by summation over all pairs (poly6 kernel), and pressure by the equation of state.
#include <cuda_runtime.h>

constexpr int kTile = 128;

__global__ void sph_density_kernel(const float4* __restrict__ particles, float* __restrict__ density,
                                   float* __restrict__ pressure, int n, float h, float rest_density, float stiffness)
{
    __shared__ float4 tile[kTile];

    const int i = blockIdx.x * kTile + threadIdx.x;
    const float h2 = h * h;
    const float norm = 315.0f / (64.0f * 3.14159265f * h2 * h2 * h2 * h2 * h);

    float4 me = make_float4(0.f, 0.f, 0.f, 0.f);
    if (i < n) me = particles[i];

    float rho = 0.0f;
    for (int start = 0; start < n; start += kTile) {
        const int j = start + threadIdx.x;
        if (j < n) tile[threadIdx.x] = particles[j];
        __syncthreads();

        const int count = min(kTile, n - start);
        for (int t = 0; t < count; ++t) {
            const float dx = me.x - tile[t].x;
            const float dy = me.y - tile[t].y;
            const float dz = me.z - tile[t].z;
            const float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < h2) {
                const float d = h2 - r2;
                rho += tile[t].w * d * d * d;
            }
        }
        __syncthreads();
    }

    if (i < n) {
        rho *= norm;
        density[i] = rho;
        pressure[i] = stiffness * fmaxf(rho - rest_density, 0.0f);
    }
}

void sph_density_pressure(const float4* particles, float* density, float* pressure, int n, float h,
                          float rest_density, float stiffness, cudaStream_t stream)
{
    if (n == 0) return;
    sph_density_kernel<<<(n + kTile - 1) / kTile, kTile, 0, stream>>>(particles, density, pressure, n, h,
                                                                     rest_density, stiffness);
}
