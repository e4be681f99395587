/*
 * Knowledge distillation loss
 *   loss = T^2 / N * sum_n sum_v softmax(teacher/T)[n,v] * (log_softmax(teacher/T)[n,v] - log_softmax(student/T)[n,v])
 * A thread takes one row of logits; the rows are averaged by one block.
 */
#include <cuda_fp16.h>

#define AT(p, r, c, ld) __half2float((p)[(size_t)(r) * (ld) + (c)])

__global__ void kl_rows(const __half *student, const __half *teacher, float *row_loss, int N, int V, float inv_t)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int v;
    float ms, mt, zs, zt, ls, lt, kl;

    if (n >= N) return;

    ms = AT(student, n, 0, V) * inv_t;
    mt = AT(teacher, n, 0, V) * inv_t;
    for (v = 1; v < V; v++) {
        ms = fmaxf(ms, AT(student, n, v, V) * inv_t);
        mt = fmaxf(mt, AT(teacher, n, v, V) * inv_t);
    }

    zs = 0.f;
    zt = 0.f;
    for (v = 0; v < V; v++) {
        zs += expf(AT(student, n, v, V) * inv_t - ms);
        zt += expf(AT(teacher, n, v, V) * inv_t - mt);
    }
    ls = ms + logf(zs);
    lt = mt + logf(zt);

    kl = 0.f;
    for (v = 0; v < V; v++) {
        float a = AT(teacher, n, v, V) * inv_t - lt;
        float b = AT(student, n, v, V) * inv_t - ls;
        kl += expf(a) * (a - b);
    }
    row_loss[n] = kl;
}

__global__ void mean_rows(const float *row_loss, float *loss, int N, float factor)
{
    __shared__ float part[256];
    int i, s;
    float acc = 0.f;

    for (i = threadIdx.x; i < N; i += 256) acc += row_loss[i];
    part[threadIdx.x] = acc;
    __syncthreads();
    for (s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) loss[0] = part[0] * factor;
}

extern "C" void distill_kl_loss(const __half *student, const __half *teacher, float *row_loss, float *loss, int N, int V,
                                float temperature)
{
    kl_rows<<<(N + 63) / 64, 64>>>(student, teacher, row_loss, N, V, 1.f / temperature);
    mean_rows<<<1, 256>>>(row_loss, loss, N, temperature * temperature / (float)N);
}
