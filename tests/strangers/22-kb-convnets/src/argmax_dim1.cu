#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define TPB 256

/* idx[b][n] = argmax over m of x[b][m][n]; the first of equal values wins */
__global__ void argmax_k(const __half *x, long long *idx, int M, int N)
{
    int n = blockIdx.x * TPB + threadIdx.x;
    int b = blockIdx.y;
    if (n >= N) return;

    const __half *p = x + (size_t)b * M * N + n;
    float best = __half2float(p[0]);
    int at = 0;
    for (int m = 1; m < M; m++) {
        float v = __half2float(p[(size_t)m * N]);
        if (v > best) { best = v; at = m; }
    }
    idx[(size_t)b * N + n] = at;
}

extern "C" int argmax_dim1(const __half *x, long long *idx, int B, int M, int N)
{
    argmax_k<<<dim3((N + TPB - 1) / TPB, B), TPB>>>(x, idx, M, N);
    return (int)cudaGetLastError();
}
