// Conv3d(3, no padding) + bias -> softmax over channels -> MaxPool3d(2) -> MaxPool3d(2)
#include <cuda_fp16.h>
#include <cstdio>

#define LAUNCH_OK()                                                                      \
    do {                                                                                 \
        cudaError_t e = cudaGetLastError();                                              \
        if (e != cudaSuccess) printf("launch failed: %s\n", cudaGetErrorString(e));      \
    } while (0)

struct Dims {
    int d, h, w;
    __host__ __device__ int volume() const { return d * h * w; }
    __host__ __device__ Dims shrunk(int by) const { return Dims{d - by, h - by, w - by}; }
    __host__ __device__ Dims halved() const { return Dims{d / 2, h / 2, w / 2}; }
};

__global__ void conv3(const __half* in, const __half* weight, const __half* bias, __half* out, int ci, int co, Dims id,
                      Dims od, int count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const int x = t % od.w;
    const int y = t / od.w % od.h;
    const int z = t / (od.w * od.h) % od.d;
    const int o = t / od.volume() % co;
    const int n = t / od.volume() / co;
    float acc = __half2float(bias[o]);
    for (int i = 0; i < ci; ++i) {
        const __half* src = in + (size_t)(n * ci + i) * id.volume();
        const __half* k = weight + (o * ci + i) * 27;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                for (int c = 0; c < 3; ++c)
                    acc += __half2float(src[((z + a) * id.h + y + b) * id.w + x + c]) * __half2float(k[(a * 3 + b) * 3 + c]);
    }
    out[t] = __float2half(acc);
}

__global__ void channel_softmax(__half* v, int channels, int volume, int count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    __half* p = v + (size_t)(t / volume) * channels * volume + t % volume;
    float peak = __half2float(p[0]);
    for (int c = 1; c < channels; ++c) peak = fmaxf(peak, __half2float(p[(size_t)c * volume]));
    float sum = 0.f;
    for (int c = 0; c < channels; ++c) sum += __expf(__half2float(p[(size_t)c * volume]) - peak);
    for (int c = 0; c < channels; ++c)
        p[(size_t)c * volume] = __float2half(__expf(__half2float(p[(size_t)c * volume]) - peak) / sum);
}

__global__ void max2(const __half* in, __half* out, Dims id, Dims od, int count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const int x = t % od.w, y = t / od.w % od.h, z = t / (od.w * od.h) % od.d;
    const __half* src = in + (size_t)(t / od.volume()) * id.volume();
    float m = __half2float(src[(2 * z * id.h + 2 * y) * id.w + 2 * x]);
    for (int k = 1; k < 8; ++k)
        m = fmaxf(m, __half2float(src[((2 * z + k / 4) * id.h + 2 * y + k / 2 % 2) * id.w + 2 * x + k % 2]));
    out[t] = __float2half(m);
}

void conv3d_softmax_maxpool2(const __half* in, const __half* weight, const __half* bias, __half* full, __half* half_size,
                             __half* out, int N, int Ci, int Co, int D, int H, int W) {
    const Dims id{D, H, W};
    const Dims cd = id.shrunk(2), p1 = cd.halved(), p2 = p1.halved();
    const int tpb = 128;
    int count = N * Co * cd.volume();
    conv3<<<(count + tpb - 1) / tpb, tpb>>>(in, weight, bias, full, Ci, Co, id, cd, count);
    LAUNCH_OK();
    count = N * cd.volume();
    channel_softmax<<<(count + tpb - 1) / tpb, tpb>>>(full, Co, cd.volume(), count);
    LAUNCH_OK();
    count = N * Co * p1.volume();
    max2<<<(count + tpb - 1) / tpb, tpb>>>(full, half_size, cd, p1, count);
    LAUNCH_OK();
    count = N * Co * p2.volume();
    max2<<<(count + tpb - 1) / tpb, tpb>>>(half_size, out, p1, p2, count);
    LAUNCH_OK();
}
