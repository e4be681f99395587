void group_norm_forward(const float* x, const float* weight, const float* bias, float* y, int N, int C, int HW, int groups,
                        float eps, cudaStream_t stream) {
  const int size = C / groups * HW;
  const int threads = size >= 2048 ? 512 : 128;
  fastnn::group_norm_kernel<float><<<N * groups, threads, 0, stream>>>(x, weight, bias, y, C, HW, groups, eps);
}
