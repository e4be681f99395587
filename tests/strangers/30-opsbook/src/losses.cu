// Losses: per-sample terms go to a scratch vector, one block adds them up.
#include <cuda_runtime.h>

__global__ void focal_terms(const float* logits, const int* label, float* term, int N, int C, float alpha, float gamma)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) return;
    int t = label[n];
    float sum = 0.f;
    for (int c = 0; c < C; ++c) {
        float z = logits[(size_t)n * C + c];
        if (c != t) z = -z;                                    // z > 0: classified right
        float a = c == t ? alpha : 1.f - alpha;
        float ce = fmaxf(-z, 0.f) + log1pf(expf(-fabsf(z)));   // -log(sigmoid(z))
        float miss = 1.f / (1.f + expf(z));                    // 1 - p
        sum += a * powf(miss, gamma) * ce;
    }
    term[n] = sum;
}

__global__ void mean_of(const float* v, float* out, int n, float inv)
{
    __shared__ float sm[1024];
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 1024) s += v[i];
    sm[threadIdx.x] = s;
    __syncthreads();
    for (int h = 512; h > 0; h >>= 1) {
        if (threadIdx.x < h) sm[threadIdx.x] += sm[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = sm[0] * inv;
}

void sigmoid_focal_loss(const float* logits, const int* label, float* term, float* loss, int N, int C, float alpha, float gamma,
                        cudaStream_t s)
{
    focal_terms<<<(N + 255) / 256, 256, 0, s>>>(logits, label, term, N, C, alpha, gamma);
    mean_of<<<1, 1024, 0, s>>>(term, loss, N, 1.0f / N);
}
