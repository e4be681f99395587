// p'[i0,i1] = 2 * q[i0,i1] - p[i0,i1] + v[i0,i1] * (q[i0-1,i1] + q[i0+1,i1] + q[i0,i1-1] + q[i0,i1+1])
template <int kWidth>
__global__ void __launch_bounds__(256) entry_window(float* p, const float* __restrict__ q,
    const float* __restrict__ v, int H, int W) {
  constexpr int kRows = 2;  // outputs of a thread, one below the other
  const int w = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  if (w >= W) return;
  for (int h = (blockIdx.y * blockDim.y + threadIdx.y) * kRows; h < H; h += gridDim.y * blockDim.y * kRows) {
    float q_window[kRows + 2][kWidth + 2];
#pragma unroll
    for (int y = 0; y < kRows + 2; ++y) {
      const float* from = q + static_cast<long long>(clamped(h + y - 1, H)) * W;
      q_window[y][0] = from[clamped(w - 1, W)];
      const auto q_pack = load_packed<kWidth>(from + w);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) q_window[y][k + 1] = q_pack.at[k];
      q_window[y][kWidth + 1] = from[clamped(w + kWidth, W)];
    }
    float v_window[kRows][kWidth];
#pragma unroll
    for (int y = 0; y < kRows; ++y) {
      const float* from = v + static_cast<long long>(clamped(h + y, H)) * W;
      const auto v_pack = load_packed<kWidth>(from + w);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) v_window[y][k] = v_pack.at[k];
    }
    float p_window[kRows][kWidth];
#pragma unroll
    for (int y = 0; y < kRows; ++y) {
      const float* from = p + static_cast<long long>(clamped(h + y, H)) * W;
      const auto p_pack = load_packed<kWidth>(from + w);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) p_window[y][k] = p_pack.at[k];
    }
#pragma unroll
    for (int j = 0; j < kRows; ++j) {
      if (h + j < H) {
        Packed<float, kWidth> p_pack;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          p_pack.at[k] = 2.0f * q_window[j + 1][k + 1] +
              (q_window[j][k + 1] + q_window[j + 2][k + 1] + q_window[j + 1][k] +
              q_window[j + 1][k + 2]) * v_window[j][k] - p_window[j][k];
        }
        if (h + j >= 1 && h + j < H - 1 && w >= 1 && w < W - 1 && h + j >= 1 && h + j < H - 1 &&
            w + kWidth - 1 >= 1 && w + kWidth - 1 < W - 1) {
          store_packed(p + static_cast<long long>(h + j) * W + w, p_pack);
        } else {
#pragma unroll
          for (int k = 0; k < kWidth; ++k) {
            if (h + j >= 1 && h + j < H - 1 && w + k >= 1 &&
                w + k < W - 1) p[static_cast<long long>(h + j) * W + w + k] = p_pack.at[k];
          }
        }
      }
    }
  }
}

// More blocks than a grid can have are taken in turn.
int row_blocks = (H + 31) / 32;
if (row_blocks > 65535) row_blocks = 65535;
if (is_aligned(p, 16) && is_aligned(q, 16) && is_aligned(v, 16) && W % 4 == 0) {
  entry_window<4><<<dim3((W + 63) / 64, row_blocks), dim3(16, 16)>>>(p, q, v, H, W);
} else {
  entry_window<1><<<dim3((W + 15) / 16, row_blocks), dim3(16, 16)>>>(p, q, v, H, W);
}
