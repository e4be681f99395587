// Beams from antenna signals: out[b][t] = sum over antennas of conj(weight[b][a]) * signal[a][t]
#include <cuda_runtime.h>

struct cplx {
    float re, im;
    __device__ cplx(float r, float i) : re(r), im(i) {}
    __device__ void add_conj_product(const float2 w, const float2 s)
    {
        re += w.x * s.x + w.y * s.y;
        im += w.x * s.y - w.y * s.x;
    }
};

__global__ void beamform_kernel(const float2* __restrict__ weight, const float2* __restrict__ signal,
                                float2* __restrict__ out, int beams, int antennas, int samples)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = blockIdx.y;
    if (t >= samples || b >= beams) return;

    cplx sum(0.f, 0.f);
    for (int a = 0; a < antennas; ++a)
        sum.add_conj_product(weight[b * antennas + a], signal[(size_t)a * samples + t]);
    out[(size_t)b * samples + t] = make_float2(sum.re, sum.im);
}

cudaError_t beamform(const float2* weight, const float2* signal, float2* out, int beams, int antennas, int samples,
                     cudaStream_t stream)
{
    if (beams > 65535) return cudaErrorInvalidConfiguration;
    const int threads = 256;
    beamform_kernel<<<dim3((samples + threads - 1) / threads, beams), threads, 0, stream>>>(weight, signal, out, beams,
                                                                                           antennas, samples);
    return cudaGetLastError();
}
