// Knowledge distillation:  T^2 * KL( softmax(teacher / T) || softmax(student / T) ), mean over the batch.
#include <cuda_runtime.h>
#include <cfloat>

__inline__ __device__ float warpSum(float v)
{
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__inline__ __device__ float warpMax(float v)
{
    for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, offset));
    return v;
}

// result in all threads
__inline__ __device__ float blockSum(float v)
{
    __shared__ float shared[32];
    const int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
    v = warpSum(v);
    __syncthreads();
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    float total = 0.0f;
    for (int i = 0; i < (int)blockDim.x / 32; i++) total += shared[i];
    return total;
}

__inline__ __device__ float blockMax(float v)
{
    __shared__ float shared[32];
    const int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
    v = warpMax(v);
    __syncthreads();
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    float best = -FLT_MAX;
    for (int i = 0; i < (int)blockDim.x / 32; i++) best = fmaxf(best, shared[i]);
    return best;
}

__global__ void distill_row_kernel(const float* student, const float* teacher, float* row_loss, int classes, float invT)
{
    const float* s = student + (size_t)blockIdx.x * classes;
    const float* t = teacher + (size_t)blockIdx.x * classes;

    float smax = -FLT_MAX, tmax = -FLT_MAX;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        smax = fmaxf(smax, s[c] * invT);
        tmax = fmaxf(tmax, t[c] * invT);
    }
    smax = blockMax(smax);
    tmax = blockMax(tmax);

    float ssum = 0.0f, tsum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        ssum += expf(s[c] * invT - smax);
        tsum += expf(t[c] * invT - tmax);
    }
    ssum = blockSum(ssum);
    tsum = blockSum(tsum);
    const float slse = smax + logf(ssum);
    const float tlse = tmax + logf(tsum);

    float kl = 0.0f;
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        const float logp = t[c] * invT - tlse;
        const float logq = s[c] * invT - slse;
        kl += expf(logp) * (logp - logq);
    }
    kl = blockSum(kl);
    if (threadIdx.x == 0) row_loss[blockIdx.x] = kl;
}

__global__ void mean_kernel(const float* row_loss, float* loss, int batch, float scale)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < batch; i += blockDim.x) sum += row_loss[i];
    sum = blockSum(sum);
    if (threadIdx.x == 0) *loss = sum * scale / (float)batch;
}

void distillation_kl_loss(const float* student, const float* teacher, float* loss, float* row_loss, int batch,
                          int classes, float temperature, cudaStream_t stream)
{
    if (batch <= 0 || classes <= 0) return;
    distill_row_kernel<<<batch, 256, 0, stream>>>(student, teacher, row_loss, classes, 1.0f / temperature);
    mean_kernel<<<1, 256, 0, stream>>>(row_loss, loss, batch, temperature * temperature);
}
