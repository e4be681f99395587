#include <cstddef>

// AvgPool3d(kernel_size=(3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2), count_include_pad=False)
// on video features, float, NCDHW.

constexpr int KD = 3, KH = 5, KW = 5;
constexpr int SH = 2, SW = 2;
constexpr int PD = KD / 2, PH = KH / 2, PW = KW / 2;

__global__ void AvgPool3dForward(const int nthreads, const float* bottom, const int depth, const int height,
                                 const int width, const int pooled_height, const int pooled_width, float* top) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < nthreads; index += blockDim.x * gridDim.x) {
    const int pw = index % pooled_width;
    const int ph = (index / pooled_width) % pooled_height;
    const int pd = (index / pooled_width / pooled_height) % depth;
    const int nc = index / pooled_width / pooled_height / depth;

    int dstart = pd - PD;
    int hstart = ph * SH - PH;
    int wstart = pw * SW - PW;
    const int dend = min(dstart + KD, depth);
    const int hend = min(hstart + KH, height);
    const int wend = min(wstart + KW, width);
    dstart = max(dstart, 0);
    hstart = max(hstart, 0);
    wstart = max(wstart, 0);

    const float* slice = bottom + (size_t)nc * depth * height * width;
    float aveval = 0;
    for (int d = dstart; d < dend; ++d) {
      for (int h = hstart; h < hend; ++h) {
        for (int w = wstart; w < wend; ++w) {
          aveval += slice[((size_t)d * height + h) * width + w];
        }
      }
    }
    top[index] = aveval / ((dend - dstart) * (hend - hstart) * (wend - wstart));
  }
}

void avgpool3d_nopad(const float* x, float* y, int N, int C, int D, int H, int W) {
  const int oh = (H - 1) / SH + 1;
  const int ow = (W - 1) / SW + 1;
  const int count = N * C * D * oh * ow;
  const int threads = 512;
  int blocks = (count + threads - 1) / threads;
  if (blocks > 65535) blocks = 65535;
  AvgPool3dForward<<<blocks, threads>>>(count, x, D, H, W, oh, ow, y);
}
