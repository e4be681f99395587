// Symmetric InfoNCE (the CLIP loss) between two batches of embeddings [B][D], everything spelled out:
// lengths, cosine similarities over a temperature, log-sum-exp of rows and of columns, per-sample loss, mean.
#include <cuda_runtime.h>
#include <math.h>

__global__ void inv_norm(const float *z, float *inv, int B, int D)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B) {
        float s = 0.0f;
        for (int d = 0; d < D; d++)
            s += z[(size_t)i * D + d] * z[(size_t)i * D + d];
        inv[i] = 1.0f / fmaxf(sqrtf(s), 1e-8f);
    }
}

__global__ void similarities(const float *za, const float *zb, const float *inv_a, const float *inv_b, float *sim, int B, int D,
                             float inv_temperature)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < B && j < B) {
        float s = 0.0f;
        for (int d = 0; d < D; d++)
            s += za[(size_t)i * D + d] * zb[(size_t)j * D + d];
        sim[(size_t)i * B + j] = s * inv_a[i] * inv_b[j] * inv_temperature;
    }
}

// lse[i] = log(sum_j exp(sim[i * step_i + j * step_j]))
__global__ void logsumexp(const float *sim, float *lse, int B, int step_i, int step_j)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B) {
        const float *p = sim + (size_t)i * step_i;
        float m = -INFINITY;
        for (int j = 0; j < B; j++)
            m = fmaxf(m, p[(size_t)j * step_j]);
        float s = 0.0f;
        for (int j = 0; j < B; j++)
            s += expf(p[(size_t)j * step_j] - m);
        lse[i] = m + logf(s);
    }
}

__global__ void per_sample(const float *sim, const float *lse_rows, const float *lse_cols, float *losses, int B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B)
        losses[i] = 0.5f * (lse_rows[i] + lse_cols[i]) - sim[(size_t)i * B + i];
}

__global__ void mean_of(const float *losses, float *loss, int B)
{
    float s = 0.0f;
    for (int i = 0; i < B; i++)
        s += losses[i];
    *loss = s / B;
}

extern "C" void infonce(const float *za, const float *zb, float *inv_a, float *inv_b, float *sim, float *lse_rows,
                        float *lse_cols, float *losses, float *loss, int B, int D, float temperature)
{
    int blocks = (B + 127) / 128;
    inv_norm<<<blocks, 128>>>(za, inv_a, B, D);
    inv_norm<<<blocks, 128>>>(zb, inv_b, B, D);
    similarities<<<dim3((B + 15) / 16, (B + 15) / 16), dim3(16, 16)>>>(za, zb, inv_a, inv_b, sim, B, D, 1.0f / temperature);
    logsumexp<<<blocks, 128>>>(sim, lse_rows, B, B, 1);
    logsumexp<<<blocks, 128>>>(sim, lse_cols, B, 1, B);
    per_sample<<<blocks, 128>>>(sim, lse_rows, lse_cols, losses, B);
    mean_of<<<1, 1>>>(losses, loss, B);
}
