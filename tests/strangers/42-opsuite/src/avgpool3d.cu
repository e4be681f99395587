#include <cuda_fp16.h>

// AvgPool3d(K, S, P, count_include_pad=False)

struct Window { int begin, end; };

static __device__ Window clip(int o, int K, int S, int P, int extent)
{
    Window w;
    w.begin = o * S - P;
    w.end = w.begin + K;
    if (w.begin < 0) w.begin = 0;
    if (w.end > extent) w.end = extent;
    return w;
}

__global__ void avg_pool3d(const half *src, half *dst, int D, int H, int W, int K, int S, int P, int OD, int OH, int OW,
                           int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;

    int ow = t % OW;
    int oh = t / OW % OH;
    int od = t / (OW * OH) % OD;
    int nc = t / (OW * OH * OD);

    Window d = clip(od, K, S, P, D);
    Window h = clip(oh, K, S, P, H);
    Window w = clip(ow, K, S, P, W);

    float sum = 0.f;
    for (int z = d.begin; z < d.end; ++z)
        for (int y = h.begin; y < h.end; ++y)
            for (int x = w.begin; x < w.end; ++x)
                sum += (float)src[(((size_t)nc * D + z) * H + y) * W + x];

    int volume = (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin);
    dst[t] = (half)(sum / (float)volume);
}

void launch_avg_pool3d(const half *src, half *dst, int NC, int D, int H, int W, int K, int S, int P)
{
    int OD = (D + 2 * P - K) / S + 1;
    int OH = (H + 2 * P - K) / S + 1;
    int OW = (W + 2 * P - K) / S + 1;
    int count = NC * OD * OH * OW;
    avg_pool3d<<<(count + 191) / 192, 192>>>(src, dst, D, H, W, K, S, P, OD, OH, OW, count);
}
