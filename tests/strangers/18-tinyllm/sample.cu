#include "common.cuh"

/* greedy sampling: the index of the largest logit, of equal ones the lowest */
__global__ void k_argmax(int32_t* tok, const __half* logits, int vocab) {
    __shared__ float sv[512];
    __shared__ int si[512];
    const int tid = threadIdx.x;
    const __half* l = logits + (size_t)blockIdx.x * vocab;
    float bv = -INFINITY;
    int bi = 0x7fffffff;
    for (int i = tid; i < vocab; i += blockDim.x) {
        const float v = __half2float(l[i]);
        if (v > bv || (v == bv && i < bi)) { bv = v; bi = i; }
    }
    sv[tid] = bv;
    si[tid] = bi;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) {
            if (sv[tid + s] > sv[tid] || (sv[tid + s] == sv[tid] && si[tid + s] < si[tid])) {
                sv[tid] = sv[tid + s];
                si[tid] = si[tid + s];
            }
        }
        __syncthreads();
    }
    if (tid == 0) tok[blockIdx.x] = si[0];
}

extern "C" void tl_sample_argmax(int32_t* tok, const __half* logits, int batch, int vocab, cudaStream_t st) {
    k_argmax<<<batch, 512, 0, st>>>(tok, logits, vocab);
}
