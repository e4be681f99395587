// Non-local means on a grey image: every pixel becomes the mean of the pixels around it (11 x 11), weighted by how much
// the 5 x 5 patches around both differ.  A block loads its tile with a border of 7 pixels once; edges are repeated.
#include <cuda_runtime.h>

template <int kPatch, int kSearch, int kTile>
class NlMeans {
 public:
  static constexpr int kBorder = kPatch + kSearch;
  static constexpr int kSide = kTile + 2 * kBorder;
  static constexpr int kArea = (2 * kPatch + 1) * (2 * kPatch + 1);

  __device__ NlMeans(float (*pixels)[kSide + 1], float sharpness) : pixels_(pixels), sharpness_(sharpness) {}

  __device__ void Load(const float* image, int x0, int y0, int H, int W) const {
    for (int i = threadIdx.y * kTile + threadIdx.x; i < kSide * kSide; i += kTile * kTile) {
      const int ly = i / kSide;
      const int lx = i % kSide;
      const int y = min(max(y0 + ly - kBorder, 0), H - 1);
      const int x = min(max(x0 + lx - kBorder, 0), W - 1);
      pixels_[ly][lx] = image[(size_t)y * W + x];
    }
  }

  __device__ float Distance(int ay, int ax, int by, int bx) const {
    float sum = 0.f;
#pragma unroll
    for (int dy = -kPatch; dy <= kPatch; ++dy) {
#pragma unroll
      for (int dx = -kPatch; dx <= kPatch; ++dx) {
        const float d = pixels_[ay + dy][ax + dx] - pixels_[by + dy][bx + dx];
        sum += d * d;
      }
    }
    return sum;
  }

  __device__ float operator()(int y, int x) const {
    float total = 0.f, weights = 0.f;
    for (int dy = -kSearch; dy <= kSearch; ++dy) {
      for (int dx = -kSearch; dx <= kSearch; ++dx) {
        const float w = expf(-sharpness_ * Distance(y, x, y + dy, x + dx));
        total += w * pixels_[y + dy][x + dx];
        weights += w;
      }
    }
    return total / weights;
  }

 private:
  float (*pixels_)[kSide + 1];
  float sharpness_;
};

using Filter = NlMeans<2, 5, 16>;

__global__ void nlm_kernel(const float* __restrict__ image, float* __restrict__ out, int H, int W, float sharpness) {
  __shared__ float pixels[Filter::kSide][Filter::kSide + 1];
  const int x0 = blockIdx.x * 16;
  const int y0 = blockIdx.y * 16;
  const Filter filter(pixels, sharpness);
  filter.Load(image, x0, y0, H, W);
  __syncthreads();

  const int x = x0 + threadIdx.x;
  const int y = y0 + threadIdx.y;
  if (x < W && y < H) {
    out[(size_t)y * W + x] = filter(threadIdx.y + Filter::kBorder, threadIdx.x + Filter::kBorder);
  }
}

int nl_means(const float* image, float* out, int H, int W, float h) {
  if (H <= 0 || W <= 0 || !(h > 0.f)) return 1;
  const float sharpness = 1.f / (h * h * Filter::kArea);
  nlm_kernel<<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16)>>>(image, out, H, W, sharpness);
  return cudaGetLastError() != cudaSuccess;
}
