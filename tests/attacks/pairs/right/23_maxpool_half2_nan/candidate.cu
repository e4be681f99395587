#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// 2 x 2 maximum with stride 2 of (planes, H, W) half images; a NaN in a window is the window's result. Packed maxima that pass
// NaN on, two columns per load where rows are aligned to that.
__global__ void __launch_bounds__(128)
maxpool_kernel(__half* out, const __half* x, long long n, int H, int W, int oh, int ow, bool packed) {
  long long stride = (long long)gridDim.x * 128;
  for (long long i = (long long)blockIdx.x * 128 + threadIdx.x; i < n; i += stride) {
    int px = i % ow;
    long long rest = i / ow;
    int py = rest % oh;
    const __half* top = x + ((size_t)(rest / oh) * H + 2 * py) * W + 2 * px;
    __half2 m;
    if (packed) {
      m = __hmax2_nan(*reinterpret_cast<const __half2*>(top), *reinterpret_cast<const __half2*>(top + W));
    } else {
      m = __hmax2_nan(__halves2half2(top[0], top[1]), __halves2half2(top[W], top[W + 1]));
    }
    out[i] = __hmax_nan(__low2half(m), __high2half(m));
  }
}

void maxpool_half(__half* out, const __half* x, int planes, int H, int W) {
  int oh = H / 2, ow = W / 2;
  long long n = (long long)planes * oh * ow;
  if (n <= 0) return;
  long long blocks = (n + 127) / 128;
  bool packed = W % 2 == 0 && (size_t)x % 4 == 0;
  maxpool_kernel<<<(unsigned)(blocks < 2112 ? blocks : 2112), 128>>>(out, x, n, H, W, oh, ow, packed);
}
