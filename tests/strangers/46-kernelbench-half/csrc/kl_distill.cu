// Knowledge-distillation loss on raw logits (Hinton):
//
//   loss = T^2 / B * sum_b KL( softmax(teacher_b / T) || softmax(student_b / T) )
//
// logits in bf16, loss in fp32
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cfloat>

using bf16 = __nv_bfloat16;

namespace {

constexpr int kBlock = 128;

template <bool IsMax>
__device__ float reduce(float v) {
  __shared__ float s[kBlock];
  int t = threadIdx.x;
  s[t] = v;
  __syncthreads();
  for (int d = kBlock / 2; d; d >>= 1) {
    if (t < d) s[t] = IsMax ? fmaxf(s[t], s[t + d]) : s[t] + s[t + d];
    __syncthreads();
  }
  v = s[0];
  __syncthreads();
  return v;
}

// log-sum-exp of row / T
__device__ float row_lse(const bf16* row, int V, float T) {
  float m = -FLT_MAX;
  for (int i = threadIdx.x; i < V; i += kBlock) m = fmaxf(m, __bfloat162float(row[i]) / T);
  m = reduce<true>(m);
  float z = 0.f;
  for (int i = threadIdx.x; i < V; i += kBlock) z += expf(__bfloat162float(row[i]) / T - m);
  z = reduce<false>(z);
  return m + logf(z);
}

__global__ void kl_rows(const bf16* student, const bf16* teacher, float* row_kl, int V, float T) {
  const bf16* s = student + size_t(blockIdx.x) * V;
  const bf16* t = teacher + size_t(blockIdx.x) * V;

  float lse_s = row_lse(s, V, T);
  float lse_t = row_lse(t, V, T);

  float kl = 0.f;
  for (int i = threadIdx.x; i < V; i += kBlock) {
    float log_q = __bfloat162float(s[i]) / T - lse_s;
    float log_p = __bfloat162float(t[i]) / T - lse_t;
    kl += expf(log_p) * (log_p - log_q);
  }
  kl = reduce<false>(kl);
  if (threadIdx.x == 0) row_kl[blockIdx.x] = kl;
}

__global__ void mean_rows(const float* row_kl, float* loss, int B, float T) {
  float v = 0.f;
  for (int i = threadIdx.x; i < B; i += kBlock) v += row_kl[i];
  v = reduce<false>(v);
  if (threadIdx.x == 0) *loss = v * T * T / B;
}

}  // namespace

void kl_distill_loss(const bf16* student, const bf16* teacher, float* row_kl, float* loss,
                     int B, int V, float temperature) {
  kl_rows<<<B, kBlock>>>(student, teacher, row_kl, V, temperature);
  mean_rows<<<1, kBlock>>>(row_kl, loss, B, temperature);
}
