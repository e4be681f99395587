// EmbeddingBag(mode="mean") with per-sample weights, for the ranking model.
// Index 0 is padding: it adds nothing and does not count. Bags have a fixed capacity.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void EmbeddingBagMean(const __half* table, const int* ids, const float* weights, __half* out,
                                 int bags, int capacity, int dim) {
  int bag = blockIdx.x;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0.0f;
    int used = 0;
    for (int i = 0; i < capacity; i++) {
      int id = ids[bag * capacity + i];
      if (id != 0) {
        float w = weights[bag * capacity + i];
        sum += w * __half2float(table[(size_t)id * dim + d]);
        used++;
      }
    }
    out[(size_t)bag * dim + d] = __float2half(used > 0 ? sum / used : 0.0f);
  }
}

void embedding_bag_mean(const __half* table, const int* ids, const float* weights, __half* out,
                        int vocab, int bags, int capacity, int dim) {
  if (vocab <= 0 || bags <= 0) return;
  EmbeddingBagMean<<<bags, 64>>>(table, ids, weights, out, bags, capacity, dim);
}
