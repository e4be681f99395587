/* From logits to probabilities for sampling: repetition, frequency and presence penalties for the tokens that a sequence
   already has (negative ids are padding), temperature, softmax over the vocabulary. */
#include <cuda_runtime.h>
#include <math.h>

__global__ void clear_counts(int *counts, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counts[i] = 0;
}

__global__ void count_tokens(const int *history, int *counts, int B, int L, int V)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * L) {
        int token = history[i];
        if (token >= 0 && token < V)
            atomicAdd(&counts[(size_t)(i / L) * V + token], 1);
    }
}

__global__ void penalize(const float *logits, const int *counts, float *work, long long n, float repetition, float frequency,
                         float presence, float temperature)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float l = logits[i];
        int count = counts[i];
        if (count > 0) {
            if (l > 0.0f)
                l = l / repetition;
            else
                l = l * repetition;
            l = l - frequency * count - presence;
        }
        work[i] = l / temperature;
    }
}

__global__ void softmax_rows(const float *work, float *probs, int V)
{
    __shared__ float tmp[256];
    const float *in = work + (size_t)blockIdx.x * V;
    float *out = probs + (size_t)blockIdx.x * V;
    int tid = threadIdx.x;

    float m = -INFINITY;
    for (int v = tid; v < V; v += 256)
        m = fmaxf(m, in[v]);
    tmp[tid] = m;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            tmp[tid] = fmaxf(tmp[tid], tmp[tid + s]);
        __syncthreads();
    }
    m = tmp[0];
    __syncthreads();

    float sum = 0.0f;
    for (int v = tid; v < V; v += 256)
        sum += expf(in[v] - m);
    tmp[tid] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            tmp[tid] += tmp[tid + s];
        __syncthreads();
    }
    sum = tmp[0];

    for (int v = tid; v < V; v += 256)
        out[v] = expf(in[v] - m) / sum;
}

extern "C" int logit_penalties(const float *logits, const int *history, int *counts, float *work, float *probs, int B, int V,
                               int L, float repetition, float frequency, float presence, float temperature)
{
    if (temperature <= 0.0f)
        return -1;
    long long n = (long long)B * V;
    int blocks = (int)((n + 255) / 256);
    clear_counts<<<blocks, 256>>>(counts, n);
    count_tokens<<<(B * L + 255) / 256, 256>>>(history, counts, B, L, V);
    penalize<<<blocks, 256>>>(logits, counts, work, n, repetition, frequency, presence, temperature);
    softmax_rows<<<B, 256>>>(work, probs, V);
    return 0;
}
