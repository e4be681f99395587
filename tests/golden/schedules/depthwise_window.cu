// y[i0,i1,i2] = x[i0,i1-1,i2-1] * w[i0,0,0] + x[i0,i1-1,i2] * w[i0,0,1] + x[i0,i1-1,i2+1] * w[i0,0,2] +
//     x[i0,i1,i2-1] * w[i0,1,0] + x[i0,i1,i2] * w[i0,1,1] + x[i0,i1,i2+1] * w[i0,1,2] + x[i0,i1+1,i2-1] * w[i0,2,0]
//     + x[i0,i1+1,i2] * w[i0,2,1] + x[i0,i1+1,i2+1] * w[i0,2,2]
// Beyond the edges of what it reads stands 0.
template <int kWidth>
__global__ void __launch_bounds__(256) entry_window(const float* __restrict__ x,
    const float* __restrict__ w, float* __restrict__ y, int C, int H, int W) {
  const int col = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  if (col >= W) return;
  for (int c = blockIdx.z; c < C; c += gridDim.z) {
    for (int h = blockIdx.y * blockDim.y + threadIdx.y; h < H; h += gridDim.y * blockDim.y) {
      float x_window[3][kWidth + 2];
#pragma unroll
      for (int r = 0; r < 3; ++r) {
        const bool inside = h + r - 1 >= 0 && h + r - 1 < H;
        const float* from = x + (static_cast<long long>(c) * H + clamped(h + r - 1, H)) * W;
        x_window[r][0] = inside && col >= 1 ? from[col - 1] : 0.0f;
        const auto x_pack = load_packed<kWidth>(from + col);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) x_window[r][k + 1] = inside ? x_pack.at[k] : 0.0f;
        x_window[r][kWidth + 1] = inside && col + kWidth < W ? from[col + kWidth] : 0.0f;
      }
      Packed<float, kWidth> y_pack;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        y_pack.at[k] = x_window[0][k] * w[(static_cast<long long>(c) * 3) * 3] +
            x_window[0][k + 1] * w[(static_cast<long long>(c) * 3) * 3 + 1] +
            x_window[0][k + 2] * w[(static_cast<long long>(c) * 3) * 3 + 2] +
            x_window[1][k] * w[(static_cast<long long>(c) * 3 + 1) * 3] +
            x_window[1][k + 1] * w[(static_cast<long long>(c) * 3 + 1) * 3 + 1] +
            x_window[1][k + 2] * w[(static_cast<long long>(c) * 3 + 1) * 3 + 2] +
            x_window[2][k] * w[(static_cast<long long>(c) * 3 + 2) * 3] +
            x_window[2][k + 1] * w[(static_cast<long long>(c) * 3 + 2) * 3 + 1] +
            x_window[2][k + 2] * w[(static_cast<long long>(c) * 3 + 2) * 3 + 2];
      }
      store_packed(y + (static_cast<long long>(c) * H + h) * W + col, y_pack);
    }
  }
}

// More blocks than a grid can have are taken in turn.
int row_blocks = (H + 15) / 16;
if (row_blocks > 65535) row_blocks = 65535;
int planes = C;
if (planes > 65535) planes = 65535;
if (is_aligned(y, 16) && is_aligned(x, 16) && W % 4 == 0) {
  entry_window<4><<<dim3((W + 63) / 64, row_blocks, planes), dim3(16, 16)>>>(x, w, y, C, H, W);
} else {
  entry_window<1><<<dim3((W + 15) / 16, row_blocks, planes), dim3(16, 16)>>>(x, w, y, C, H, W);
}
