// y[i0,i1] = x[i0,i1] + c * (x[i0-1,i1] + x[i0+1,i1] + x[i0,i1-1] + x[i0,i1+1] - 4 * x[i0,i1])
// y[i0,i1] = x[i0,i1]  for i0<H, i1<W
template <int kWidth>
__global__ void __launch_bounds__(256) entry_window(const float* __restrict__ x,
    float* __restrict__ y, int H, int W, float c) {
  constexpr int kRows = 2;  // outputs of a thread, one below the other
  const int w = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  if (w >= W) return;
  for (int h = (blockIdx.y * blockDim.y + threadIdx.y) * kRows; h < H; h += gridDim.y * blockDim.y * kRows) {
    float x_window[kRows + 2][kWidth + 2];
#pragma unroll
    for (int r = 0; r < kRows + 2; ++r) {
      const float* from = x + static_cast<long long>(clamped(h + r - 1, H)) * W;
      x_window[r][0] = from[clamped(w - 1, W)];
      const auto x_pack = load_packed<kWidth>(from + w);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) x_window[r][k + 1] = x_pack.at[k];
      x_window[r][kWidth + 1] = from[clamped(w + kWidth, W)];
    }
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      if (h + j < H) {
        Packed<float, kWidth> y_pack;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          y_pack.at[k] = x_window[j + 1][k + 1];
          if (h + j >= 1 && h + j < H - 1 && w + k >= 1 && w + k < W - 1) {
            y_pack.at[k] = x_window[j + 1][k + 1] +
                (x_window[j][k + 1] + x_window[j + 2][k + 1] + x_window[j + 1][k] +
                x_window[j + 1][k + 2] - 4.0f * x_window[j + 1][k + 1]) * c;
          }
        }
        store_packed(y + static_cast<long long>(h + j) * W + w, y_pack);
      }
    }
  }
}

// More blocks than a grid can have are taken in turn.
int row_blocks = (H + 31) / 32;
if (row_blocks > 65535) row_blocks = 65535;
if (is_aligned(y, 16) && is_aligned(x, 16) && W % 4 == 0) {
  entry_window<4><<<dim3((W + 63) / 64, row_blocks), dim3(16, 16)>>>(x, y, H, W, c);
} else {
  entry_window<1><<<dim3((W + 15) / 16, row_blocks), dim3(16, 16)>>>(x, y, H, W, c);
}
