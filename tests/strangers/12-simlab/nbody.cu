// All-pairs gravity after GPU Gems 3, chapter 31.
#include <cuda_runtime.h>

#define EPS2 0.01f
#define P 64

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
    float distSixth = distSqr * distSqr * distSqr;
    float invDistCube = 1.0f / sqrtf(distSixth);
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

__global__ void calculate_forces(const float4 *pos, float4 *acc, int N)
{
    __shared__ float4 shPosition[P];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = gtid < N ? pos[gtid] : make_float4(0.f, 0.f, 0.f, 0.f);
    float3 a = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < N; i += P) {
        int idx = i + threadIdx.x;
        // bodies beyond the end have no mass
        shPosition[threadIdx.x] = idx < N ? pos[idx] : make_float4(0.f, 0.f, 0.f, 0.f);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < P; j++) a = bodyBodyInteraction(myPosition, shPosition[j], a);
        __syncthreads();
    }
    if (gtid < N) acc[gtid] = make_float4(a.x, a.y, a.z, 0.0f);
}

void nbody_forces(const float4 *pos, float4 *acc, int N)
{
    calculate_forces<<<(N + P - 1) / P, P>>>(pos, acc, N);
}

// kick and drift, one array per coordinate, in place
__global__ void leapfrog(float *x, float *v, const float *a, float dt, int n3)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n3) {
        float vi = v[i] + a[i] * dt;
        v[i] = vi;
        x[i] += vi * dt;
    }
}

void integrate(float *x, float *v, const float *a, float dt, int n)
{
    leapfrog<<<(3 * n + 255) / 256, 256>>>(x, v, a, dt, 3 * n);
}
