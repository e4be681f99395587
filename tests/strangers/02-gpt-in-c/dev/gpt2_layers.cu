#include "common.h"
#include <assert.h>

// ----------------------------------------------------------------------------
// encoder: out[b,t,:] = wte[inp[b,t],:] + wpe[t,:]

__global__ void encoder_forward_kernel2(float* out,
                               int* inp, float* wte, float* wpe,
                               int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int N = B * T * C;

    if (idx < N) {
        int bt = idx / C;
        int b = bt / T;
        int t = bt % T;
        int c = idx % C;

        int ix = inp[b * T + t];

        float* out_btc = out + b * T * C + t * C + c;
        float* wte_ix = wte + ix * C + c;
        float* wpe_tc = wpe + t * C + c;
        *out_btc = *wte_ix + *wpe_tc;
    }
}

void encoder_forward(float* out, int* inp, float* wte, float* wpe, int B, int T, int C, int V) {
    const int N = B * T * C;
    const int block_size = 256;
    const int grid_size = ceil_div(N, block_size);
    encoder_forward_kernel2<<<grid_size, block_size>>>(out, inp, wte, wpe, B, T, C);
    cudaCheck(cudaGetLastError());
}

// really bad backward of the encoder, with atomics
__global__ void encoder_backward_kernel(float* dwte, float* dwpe,
                                        const float* dout, const int* inp,
                                        int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int N = B * T * C;

    if (idx < N) {
        int bt = idx / C;
        int b = bt / T;
        int t = bt % T;
        int c = idx % C;

        int ix = inp[b * T + t];

        const float* dout_btc = dout + b * T * C + t * C + c;
        float* dwte_ix = dwte + ix * C + c;
        float* dwpe_tc = dwpe + t * C + c;

        atomicAdd(dwte_ix, *dout_btc);
        atomicAdd(dwpe_tc, *dout_btc);
    }
}

void encoder_backward(float* dwte, float* dwpe, const float* dout, const int* inp, int B, int T, int C, int V) {
    const int N = B * T * C;
    const int block_size = 256;
    encoder_backward_kernel<<<ceil_div(N, block_size), block_size>>>(dwte, dwpe, dout, inp, B, T, C);
    cudaCheck(cudaGetLastError());
}

// ----------------------------------------------------------------------------
// gelu

#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)
__global__ void gelu_forward_kernel(float* out, const float* inp, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float xi = inp[i];
        float cube = 0.044715f * xi * xi * xi;
        out[i] = 0.5f * xi * (1.0f + tanhf(GELU_SCALING_FACTOR * (xi + cube)));
    }
}

__global__ void gelu_backward_kernel(float* dinp, const float* inp, const float* dout, const int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float x = inp[i];
        float cube = 0.044715f * x * x * x;
        float tanh_arg = GELU_SCALING_FACTOR * (x + cube);
        float tanh_out = tanhf(tanh_arg);
        float coshf_out = coshf(tanh_arg);
        float sech_out = 1.0f / (coshf_out * coshf_out);
        float local_grad = 0.5f * (1.0f + tanh_out) + x * 0.5f * sech_out * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x * x);
        dinp[i] = local_grad * dout[i];
    }
}

void gelu_forward(float* out, const float* inp, int N) {
    const int block_size = 128;
    gelu_forward_kernel<<<ceil_div(N, block_size), block_size>>>(out, inp, N);
    cudaCheck(cudaGetLastError());
}

void gelu_backward(float* dinp, const float* inp, const float* dout, const int N) {
    const int block_size = 128;
    gelu_backward_kernel<<<ceil_div(N, block_size), block_size>>>(dinp, inp, dout, N);
    cudaCheck(cudaGetLastError());
}

// ----------------------------------------------------------------------------
// residual

__global__ void residual_forward_kernel(float4* out, const float4* inp1, const float4* inp2, int N4) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < N4) {
        float4 a = inp1[idx], b = inp2[idx];
        out[idx] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}

void residual_forward(float* out, const float* inp1, const float* inp2, int N) {
    // B*T*C is always a multiple of 4 here
    assert(N % 4 == 0);
    const int block_size = 256;
    residual_forward_kernel<<<ceil_div(N / 4, block_size), block_size>>>((float4*)out, (const float4*)inp1,
                                                                         (const float4*)inp2, N / 4);
    cudaCheck(cudaGetLastError());
}

// ----------------------------------------------------------------------------
// causal softmax of the attention scores, scaled: one warp per row. inp is (N, T, T)

__global__ void softmax_autoregressive_kernel(float* out, float inv_temperature, const float* inp, int N, int T) {
    int lane = threadIdx.x % WARP_SIZE;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
    if (row >= N * T) { return; }
    int own_pos = row % T;
    const float* x = inp + (size_t)row * T;
    float* y = out + (size_t)row * T;

    float maxval = -FLT_MAX;
    for (int i = lane; i <= own_pos; i += WARP_SIZE) {
        maxval = fmaxf(maxval, x[i]);
    }
    maxval = warpReduceMax(maxval);
    float sumval = 0.0f;
    for (int i = lane; i <= own_pos; i += WARP_SIZE) {
        sumval += expf(inv_temperature * (x[i] - maxval));
    }
    sumval = warpReduceSum(sumval);
    float norm = 1.f / sumval;
    for (int i = lane; i < T; i += WARP_SIZE) {
        y[i] = i <= own_pos ? expf(inv_temperature * (x[i] - maxval)) * norm : 0.0f;
    }
}

void softmax_causal(float* out, float inv_temperature, const float* inp, int N, int T) {
    const int block_size = 256;
    const int grid_size = ceil_div(N * T * 32, block_size);
    softmax_autoregressive_kernel<<<grid_size, block_size>>>(out, inv_temperature, inp, N, T);
    cudaCheck(cudaGetLastError());
}

// ----------------------------------------------------------------------------
// fused softmax + crossentropy backward: dlogits = (probs - onehot) * dloss

__global__ void crossentropy_softmax_backward_kernel1(float* dlogits,
                           const float* dlosses, const float* probs, const int* targets,
                           int B, int T, int V) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * T * V) {
        int b = i / (T * V);
        int t = (i / V) % T;
        int v = i % V;
        float dloss = dlosses[b * T + t];
        float p = probs[i];
        int ix = targets[b * T + t];
        float indicator = v == ix ? 1.0f : 0.0f;
        dlogits[i] = (p - indicator) * dloss;
    }
}

void crossentropy_softmax_backward(float* dlogits, const float* dlosses, const float* probs, const int* targets,
                                   int B, int T, int V) {
    const int block_size = 256;
    crossentropy_softmax_backward_kernel1<<<ceil_div(B * T * V, block_size), block_size>>>(dlogits, dlosses, probs, targets, B, T, V);
    cudaCheck(cudaGetLastError());
}

// ----------------------------------------------------------------------------
// AdamW

__device__ inline float lerp(float start, float end, float weight) {
    return fmaf(weight, end, fmaf(-weight, start, start));
}

__global__ void adamw_kernel2(float* params_memory, const float* grads_memory, float* m_memory, float* v_memory, long num_parameters,
                              float learning_rate, float beta1, float beta2, float beta1_correction, float beta2_correction, float eps, float weight_decay) {
   int i = blockIdx.x * blockDim.x + threadIdx.x;
   if (i >= num_parameters) return;  // guard
   float grad = grads_memory[i];
   float m = m_memory[i];
   float v = v_memory[i];
   // update the first moment (momentum)
   m = lerp(grad, m, beta1);
   m_memory[i] = m;
   // update the second moment (RMSprop)
   v = lerp(grad * grad, v, beta2);
   v_memory[i] = v;
   m /= beta1_correction;  // m_hat
   v /= beta2_correction;  // v_hat
   params_memory[i] -= learning_rate * (m / (sqrtf(v) + eps) + weight_decay * params_memory[i]);
}

void adamw(float* params_memory, const float* grads_memory, float* m_memory, float* v_memory, int t, long num_parameters,
           float learning_rate, float beta1, float beta2, float eps, float weight_decay) {
    unsigned int block_size = 512;
    unsigned int num_blocks = ceil_div((unsigned int)num_parameters, block_size);
    float beta1_correction = 1.0f - powf(beta1, t);
    float beta2_correction = 1.0f - powf(beta2, t);
    adamw_kernel2<<<num_blocks, block_size>>>(params_memory, grads_memory, m_memory, v_memory, num_parameters,
                                              learning_rate, beta1, beta2, beta1_correction, beta2_correction, eps, weight_decay);
    cudaCheck(cudaGetLastError());
}
