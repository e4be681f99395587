#include <cuda_runtime.h>



// Tiles of 16 x 16. Both transposed is the transpose of B A, for which both are read along their rows.
__global__ void __launch_bounds__(256)
    product_kernel(float* C, const float* A, const float* B, int M, int N, int K, int ta, int tb) {
  __shared__ float a[16][17], b[16][17];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  unsigned tiles_n = (unsigned)(((size_t)N + 15) / 16);
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * 16, n0 = (size_t)(blockIdx.x % tiles_n) * 16;
  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    size_t am = ta ? m0 + tx : m0 + ty, bn = tb ? n0 + ty : n0 + tx;
    int ak = ta ? ty : tx, bk = tb ? tx : ty;
    float va = am < (size_t)M && ak < K - k0 ? A[ta ? (size_t)(k0 + ak) * M + am : am * K + k0 + ak] : 0.0f;
    float vb = bn < (size_t)N && bk < K - k0 ? B[tb ? bn * K + k0 + bk : (size_t)(k0 + bk) * N + bn] : 0.0f;
    a[ak][am - m0] = va;
    b[bk][bn - n0] = vb;
    __syncthreads();
    int depth = K - k0 < 16 ? K - k0 : 16;
    for (int k = 0; k < depth; ++k) acc += a[k][ty] * b[k][tx];
    __syncthreads();
  }
  if (m0 + ty < (size_t)M && n0 + tx < (size_t)N) C[(m0 + ty) * N + n0 + tx] = acc;
}

void product(float* C, const float* A, const float* B, int M, int N, int K, int ta, int tb, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  if (ta && tb) {
    const float* first = A;
    A = B, B = first;
    int rows = M;
    M = N, N = rows;
    ta = tb = 0;
  }
  size_t tiles = (((size_t)M + 15) / 16) * (((size_t)N + 15) / 16);
  product_kernel<<<(unsigned)tiles, 256, 0, stream>>>(C, A, B, M, N, K, ta, tb);
}
