#include "tbx.h"

__global__ void one_hot_k(const int64_t *idx, float *out, int64_t n, int classes) {
  TBX_1D(i, n * classes);
  out[i] = idx[i / classes] == i % classes ? 1.f : 0.f;
}
extern "C" void tbx_one_hot(const int64_t *idx, float *out, int64_t n, int classes) {
  one_hot_k<<<TBX_GRID(n * classes), TBX_TPB>>>(idx, out, n, classes);
}

/* out[o][j][i] = in[o][idx[j]][i] */
__global__ void index_select_k(const float *in, const int *idx, float *out, int outer, int dim, int inner, int count) {
  TBX_1D(t, (int64_t)outer * count * inner);
  int i = t % inner, j = t / inner % count, o = t / inner / count;
  out[t] = in[((int64_t)o * dim + idx[j]) * inner + i];
}
extern "C" void tbx_index_select(const float *in, const int *idx, float *out, int outer, int dim, int inner, int count) {
  index_select_k<<<TBX_GRID((int64_t)outer * count * inner), TBX_TPB>>>(in, idx, out, outer, dim, inner, count);
}

/* rows of src are added to the rows idx of out, integers so that the order does not matter */
__global__ void scatter_add_k(int *out, const int *idx, const int *src, int n, int cols) {
  TBX_1D(t, (int64_t)n * cols);
  atomicAdd(out + (int64_t)idx[t / cols] * cols + t % cols, src[t]);
}
extern "C" void tbx_scatter_add(int *out, const int *idx, const int *src, int n, int rows, int cols) {
  (void)rows;
  scatter_add_k<<<TBX_GRID((int64_t)n * cols), TBX_TPB>>>(out, idx, src, n, cols);
}

/* gradient of an embedding without atomics: one block per vocabulary row looks for its tokens */
__global__ void embedding_grad_k(const float *dout, const int *tokens, float *dtable, int n, int dim) {
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float s = 0;
    for (int t = 0; t < n; t++)
      if (tokens[t] == (int)blockIdx.x) s += dout[(int64_t)t * dim + d];
    dtable[(int64_t)blockIdx.x * dim + d] = s;
  }
}
extern "C" void tbx_embedding_grad(const float *dout, const int *tokens, float *dtable, int n, int vocab, int dim) {
  embedding_grad_k<<<vocab, 64>>>(dout, tokens, dtable, n, dim);
}
