void cosine_embedding_loss(const float* a, const float* b, float* out, int n, int dim, float eps) {
  const int rows = LOSS_THREADS / 32;
  CosineKernel<<<(n + rows - 1) / rows, LOSS_THREADS>>>(a, b, out, n, dim, eps);
}
