#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// C[M][N] = A[M][K] B[K][N], float sums, half in and out
#define T 16
__global__ void hgemm_kernel(const __half *A, const __half *B, __half *C, int M, int N, int K) {
    __shared__ __half a[T][T + 2], b[T][T];
    int r = blockIdx.y * T + threadIdx.y, c = blockIdx.x * T + threadIdx.x;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += T) {
        a[threadIdx.y][threadIdx.x] = r < M && k0 + threadIdx.x < K ? A[r * K + k0 + threadIdx.x] : __half(0.f);
        b[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && c < N ? B[(k0 + threadIdx.y) * N + c] : __half(0.f);
        __syncthreads();
        for (int k = 0; k < T; k++) acc += __half2float(a[threadIdx.y][k]) * __half2float(b[k][threadIdx.x]);
        __syncthreads();
    }
    if (r < M && c < N) C[r * N + c] = __float2half(acc);
}
void hgemm(const __half *A, const __half *B, __half *C, int M, int N, int K) {
    hgemm_kernel<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
}

// y = W x, bf16 weights, one warp per row, two values per load. K even
__global__ void gemv_bf16_kernel(const __nv_bfloat162 *W, const __nv_bfloat162 *x, float *y, int M, int K2) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= M) return;
    float acc = 0.f;
    for (int k = lane; k < K2; k += 32) {
        float2 w = __bfloat1622float2(W[(size_t)row * K2 + k]), v = __bfloat1622float2(x[k]);
        acc += w.x * v.x + w.y * v.y;
    }
    for (int o = 16; o; o >>= 1) acc += __shfl_xor_sync(0xffffffff, acc, o);
    if (!lane) y[row] = acc;
}
void gemv_bf16(const __nv_bfloat16 *W, const __nv_bfloat16 *x, float *y, int M, int K) {
    gemv_bf16_kernel<<<(M + 3) / 4, 128>>>((const __nv_bfloat162 *)W, (const __nv_bfloat162 *)x, y, M, K / 2);
}

// dot product of half vectors, one value per block, then one block adds them: partial has 64 floats
__global__ void hdot_partial(const __half2 *a, const __half2 *b, float *partial, int n2) {
    __shared__ float s[128];
    float v = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n2; i += 128 * gridDim.x) {
        float2 p = __half22float2(a[i]), q = __half22float2(b[i]);
        v += p.x * q.x + p.y * q.y;
    }
    s[threadIdx.x] = v;
    __syncthreads();
    for (int o = 64; o; o >>= 1) {
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
__global__ void hdot_final(const float *partial, float *out) {
    float v = partial[threadIdx.x] + partial[threadIdx.x + 32];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) *out = v;
}
void hdot(const __half *a, const __half *b, float *partial, float *out, int n) {
    hdot_partial<<<64, 128>>>((const __half2 *)a, (const __half2 *)b, partial, n / 2);  // n even
    hdot_final<<<1, 32>>>(partial, out);
}
