#include "cuda.h"

__global__ void forward_maxpool_layer_kernel(int n, int in_h, int in_w, int in_c, int stride, int size, const float *input, float *output, int *indexes)
{
    int h = (in_h - size)/stride + 1;
    int w = (in_w - size)/stride + 1;
    int c = in_c;

    int id = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(id >= n) return;

    int j = id % w;
    id /= w;
    int i = id % h;
    id /= h;
    int k = id % c;
    id /= c;
    int b = id;

    int out_index = j + w*(i + h*(k + c*b));
    float max = -FLT_MAX;
    int max_i = -1;
    int l, m;
    for(l = 0; l < size; ++l){
        for(m = 0; m < size; ++m){
            int cur_h = i*stride + l;
            int cur_w = j*stride + m;
            int index = cur_w + in_w*(cur_h + in_h*(k + b*in_c));
            float val = input[index];
            max_i = (val > max) ? index : max_i;
            max   = (val > max) ? val   : max;
        }
    }
    output[out_index] = max;
    indexes[out_index] = max_i;
}

// a block: 16x8 outputs of one plane, its window of the input in shared memory
__global__ void maxpool_shared_kernel(int in_h, int in_w, int stride, int size, const float *input, float *output, int *indexes)
{
    extern __shared__ float win[];
    const int h = (in_h - size)/stride + 1, w = (in_w - size)/stride + 1;
    const int ww = 15*stride + size, wh = 7*stride + size;
    const int base = blockIdx.z*in_h*in_w;
    const int x0 = blockIdx.x*16*stride, y0 = blockIdx.y*8*stride;
    for(int i = threadIdx.y*16 + threadIdx.x; i < ww*wh; i += 128){
        int y = y0 + i/ww, x = x0 + i%ww;
        if(y < in_h && x < in_w) win[i] = input[base + y*in_w + x];
    }
    __syncthreads();
    const int j = blockIdx.x*16 + threadIdx.x, i = blockIdx.y*8 + threadIdx.y;
    if(i >= h || j >= w) return;
    float max = -FLT_MAX;
    int max_i = -1;
    for(int l = 0; l < size; ++l)
        for(int m = 0; m < size; ++m){
            int sy = threadIdx.y*stride + l, sx = threadIdx.x*stride + m;
            float val = win[sy*ww + sx];
            if(val > max){ max = val; max_i = base + (y0 + sy)*in_w + x0 + sx; }
        }
    output[(blockIdx.z*h + i)*w + j] = max;
    indexes[(blockIdx.z*h + i)*w + j] = max_i;
}

// the common case 2x2 with stride 2: float4 loads, two results per thread; in_w a multiple of four
__global__ void maxpool_2x2_kernel(int planes, int in_h, int in_w, const float4 * __restrict__ input, float2 * __restrict__ output, int2 * __restrict__ indexes)
{
    const int h = in_h/2, w4 = in_w/4;
    const int id = blockIdx.x*blockDim.x + threadIdx.x;
    if(id >= planes*h*w4) return;
    const int x = id % w4, y = (id/w4) % h, p = id/w4/h;
    const int top = (p*in_h + 2*y)*w4 + x;
    const float4 a = input[top], b = input[top + w4];
    const int i00 = top*4, i10 = (top + w4)*4;
    float m0 = a.x, m1 = a.z;
    int n0 = i00, n1 = i00 + 2;
    if(a.y > m0){ m0 = a.y; n0 = i00 + 1; }
    if(b.x > m0){ m0 = b.x; n0 = i10; }
    if(b.y > m0){ m0 = b.y; n0 = i10 + 1; }
    if(a.w > m1){ m1 = a.w; n1 = i00 + 3; }
    if(b.z > m1){ m1 = b.z; n1 = i10 + 2; }
    if(b.w > m1){ m1 = b.w; n1 = i10 + 3; }
    output[id] = make_float2(m0, m1);
    indexes[id] = make_int2(n0, n1);
}

extern "C" void maxpool_naive(const float *input, float *output, int *indexes, int batch, int c, int in_h, int in_w, int size, int stride)
{
    int h = (in_h - size)/stride + 1;
    int w = (in_w - size)/stride + 1;
    size_t n = h*w*c*batch;
    forward_maxpool_layer_kernel<<<cuda_gridsize(n), BLOCK>>>(n, in_h, in_w, c, stride, size, input, output, indexes);
}
extern "C" void maxpool_tiled(const float *input, float *output, int *indexes, int batch, int c, int in_h, int in_w, int size, int stride)
{
    int h = (in_h - size)/stride + 1;
    int w = (in_w - size)/stride + 1;
    int bytes = (15*stride + size)*(7*stride + size)*sizeof(float);
    if(bytes > 48*1024){
        maxpool_naive(input, output, indexes, batch, c, in_h, in_w, size, stride);
        return;
    }
    maxpool_shared_kernel<<<dim3((w + 15)/16, (h + 7)/8, batch*c), dim3(16, 8), bytes>>>(in_h, in_w, stride, size, input, output, indexes);
}
extern "C" void maxpool_fast(const float *input, float *output, int *indexes, int batch, int c, int in_h, int in_w, int size, int stride)
{
    if(size == 2 && stride == 2 && in_w % 4 == 0){
        int n = batch*c*(in_h/2)*(in_w/4);
        maxpool_2x2_kernel<<<(n + 255)/256, 256>>>(batch*c, in_h, in_w, (const float4 *)input, (float2 *)output, (int2 *)indexes);
    } else {
        maxpool_naive(input, output, indexes, batch, c, in_h, in_w, size, stride);
    }
}
