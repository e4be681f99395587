#include "cuda.h"
#define KS 3   /* 3x3, stride 1, "same" padding */

__global__ void dw_naive(const float *input, const float *weights, const float *biases, float *output, int batch, int c, int h, int w)
{
    int i = blockIdx.x*blockDim.x + threadIdx.x;
    if(i >= batch*c*h*w) return;
    int x = i % w, y = (i/w) % h, k = (i/w/h) % c, b = i/w/h/c;
    float s = 0;
    for(int dy = 0; dy < KS; ++dy)
        for(int dx = 0; dx < KS; ++dx){
            int yy = y + dy - 1, xx = x + dx - 1;
            float v = (yy < 0 || yy >= h || xx < 0 || xx >= w) ? 0 : input[((b*c + k)*h + yy)*w + xx];
            s += v * weights[(k*KS + dy)*KS + dx];
        }
    output[i] = s + biases[k];
}

__global__ void dw_tiled(const float *input, const float *weights, const float *biases, float *output, int c, int h, int w)
{
    __shared__ float t[8 + 2][32 + 2];
    __shared__ float k9[KS*KS];
    const int plane = blockIdx.z, k = plane % c;
    const float *in = input + (size_t)plane*h*w;
    const int x0 = blockIdx.x*32 - 1, y0 = blockIdx.y*8 - 1;
    const int tid = threadIdx.y*32 + threadIdx.x;
    if(tid < KS*KS) k9[tid] = weights[k*KS*KS + tid];
    for(int i = tid; i < 10*34; i += 256){
        int yy = y0 + i/34, xx = x0 + i%34;
        t[i/34][i%34] = (yy >= 0 && yy < h && xx >= 0 && xx < w) ? in[yy*w + xx] : 0.f;
    }
    __syncthreads();
    const int x = blockIdx.x*32 + threadIdx.x, y = blockIdx.y*8 + threadIdx.y;
    if(x >= w || y >= h) return;
    float s = 0;
    #pragma unroll
    for(int dy = 0; dy < KS; ++dy)
        #pragma unroll
        for(int dx = 0; dx < KS; ++dx) s += t[threadIdx.y + dy][threadIdx.x + dx] * k9[dy*KS + dx];
    output[((size_t)plane*h + y)*w + x] = s + biases[k];
}

// each thread walks down 8 rows of one column and keeps the last three rows in registers
#define ROWS 8
__device__ __forceinline__ void load3(const float *in, int y, int x, int h, int w, float r[3])
{
    const bool ok = y >= 0 && y < h;
    r[0] = ok && x > 0     ? __ldg(in + y*w + x - 1) : 0.f;
    r[1] = ok              ? __ldg(in + y*w + x)     : 0.f;
    r[2] = ok && x < w - 1 ? __ldg(in + y*w + x + 1) : 0.f;
}

__global__ void __launch_bounds__(128) dw_fast(const float * __restrict__ input, const float * __restrict__ weights,
        const float * __restrict__ biases, float * __restrict__ output, int c, int h, int w)
{
    const int x = blockIdx.x*128 + threadIdx.x;
    const int plane = blockIdx.z, k = plane % c;
    if(x >= w) return;
    const float *in = input + (size_t)plane*h*w;
    float *out = output + (size_t)plane*h*w;
    float wt[9], a[3], b[3], d[3];
    #pragma unroll
    for(int i = 0; i < 9; ++i) wt[i] = __ldg(weights + k*9 + i);
    const float bias = biases[k];
    int y = blockIdx.y*ROWS;
    load3(in, y - 1, x, h, w, a);
    load3(in, y, x, h, w, b);
    #pragma unroll
    for(int r = 0; r < ROWS; ++r, ++y){
        if(y >= h) return;
        load3(in, y + 1, x, h, w, d);
        float s = a[0]*wt[0] + a[1]*wt[1] + a[2]*wt[2];
        s += b[0]*wt[3] + b[1]*wt[4] + b[2]*wt[5];
        s += d[0]*wt[6] + d[1]*wt[7] + d[2]*wt[8];
        out[y*w + x] = s + bias;
        #pragma unroll
        for(int i = 0; i < 3; ++i){ a[i] = b[i]; b[i] = d[i]; }
    }
}

extern "C" void dwconv_naive(const float *input, const float *weights, const float *biases, float *output, int batch, int c, int h, int w)
{
    dw_naive<<<(batch*c*h*w + 255)/256, 256>>>(input, weights, biases, output, batch, c, h, w);
}
extern "C" void dwconv_tiled(const float *input, const float *weights, const float *biases, float *output, int batch, int c, int h, int w)
{
    dw_tiled<<<dim3((w + 31)/32, (h + 7)/8, batch*c), dim3(32, 8)>>>(input, weights, biases, output, c, h, w);
}
extern "C" void dwconv_fast(const float *input, const float *weights, const float *biases, float *output, int batch, int c, int h, int w)
{
    dw_fast<<<dim3((w + 127)/128, (h + ROWS - 1)/ROWS, batch*c), 128>>>(input, weights, biases, output, c, h, w);
}
