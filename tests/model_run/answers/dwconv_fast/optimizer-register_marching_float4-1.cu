// a warp walks down MARCH_ROWS rows of 128 columns of one plane, four columns a lane, and keeps the sums of
// the two open output rows in registers; rows are loaded MARCH_AHEAD ahead
constexpr int MARCH_ROWS = @TALL@;
constexpr int MARCH_AHEAD = @AHEAD@;

// four columns from x on (o is the offset of the first), zeros outside of the plane; e is the neighbour at
// offset o + side, which no lane of the warp holds, where there is one
template <bool VEC>
__device__ __forceinline__ void load_row(const float *in, size_t o, bool ok, int x, int w, bool edge, int side, float m[4], float &e)
{
    if constexpr(VEC){
        float4 q = make_float4(0.f, 0.f, 0.f, 0.f);
        if(ok && x < w) q = __ldg((const float4 *)(in + o));
        m[0] = q.x; m[1] = q.y; m[2] = q.z; m[3] = q.w;
    } else {
        #pragma unroll
        for(int i = 0; i < 4; ++i) m[i] = ok && x + i < w ? __ldg(in + o + i) : 0.f;
    }
    e = ok && edge ? __ldg(in + o + side) : 0.f;
}

template <bool VEC>
__global__ void __launch_bounds__(128, 6) dw_march(const float * __restrict__ input, const float * __restrict__ weights,
        const float * __restrict__ biases, float * __restrict__ output, int c, int h, int w, int strips, int chunks, unsigned units)
{
    const int lane = threadIdx.x & 31;
    const unsigned unit = blockIdx.x*4 + (threadIdx.x >> 5);
    if(unit >= units) return;
    const int strip = unit % (unsigned)strips;
    const unsigned t = unit / (unsigned)strips;
    const int chunk = t % (unsigned)chunks, plane = t / (unsigned)chunks, k = plane % c;
    const int x = strip*128 + lane*4;
    const int y0 = chunk*MARCH_ROWS, y1 = min(y0 + MARCH_ROWS, h), end = min(y1 + 1, h);
    const float *in = input + (size_t)plane*h*w;
    float *out = output + (size_t)plane*h*w;
    float wt[9];
    #pragma unroll
    for(int i = 0; i < 9; ++i) wt[i] = __ldg(weights + (size_t)k*9 + i);
    const float bias = __ldg(biases + k);
    const bool edge = (lane == 0 && x > 0) || (lane == 31 && x + 4 < w);
    const int side = lane == 0 ? -1 : 4;

    float pm[MARCH_AHEAD][4], pe[MARCH_AHEAD], a[4], b[4];
    size_t back = (size_t)y0*w + x - 2*(size_t)w, ahead = back + w;   // of rows r - 1 and r + MARCH_AHEAD
    #pragma unroll
    for(int d = 0; d < MARCH_AHEAD; ++d){
        const int y = y0 - 1 + d;
        load_row<VEC>(in, ahead, y >= 0 && y < end, x, w, edge, side, pm[d], pe[d]);
        ahead += w;
    }
    #pragma unroll
    for(int i = 0; i < 4; ++i) a[i] = b[i] = 0.f;

    for(int r = y0 - 1; r <= y1; r += MARCH_AHEAD){
        #pragma unroll
        for(int d = 0; d < MARCH_AHEAD; ++d){      // rows after y1 load and store nothing
            const int rr = r + d;
            const float e = pe[d];
            float v[6], o[4];
            #pragma unroll
            for(int i = 0; i < 4; ++i) v[i + 1] = pm[d][i];
            load_row<VEC>(in, ahead, rr + MARCH_AHEAD < end, x, w, edge, side, pm[d], pe[d]);
            ahead += w;
            v[0] = __shfl_up_sync(~0u, v[4], 1);
            v[5] = __shfl_down_sync(~0u, v[1], 1);
            if(lane == 0) v[0] = e;
            if(lane == 31) v[5] = e;
            #pragma unroll
            for(int i = 0; i < 4; ++i){
                o[i] = a[i] + (v[i]*wt[6] + v[i + 1]*wt[7] + v[i + 2]*wt[8]);
                a[i] = b[i] + (v[i]*wt[3] + v[i + 1]*wt[4] + v[i + 2]*wt[5]);
                b[i] = v[i]*wt[0] + v[i + 1]*wt[1] + v[i + 2]*wt[2];
            }
            if(rr > y0 && rr <= y1){
                if constexpr(VEC){
                    if(x < w) *(float4 *)(out + back) = make_float4(o[0] + bias, o[1] + bias, o[2] + bias, o[3] + bias);
                } else {
                    #pragma unroll
                    for(int i = 0; i < 4; ++i) if(x + i < w) out[back + i] = o[i] + bias;
                }
            }
            back += w;
        }
    }
}

extern "C" void dwconv_fast(const float *input, const float *weights, const float *biases, float *output, int batch, int c, int h, int w)
{
    const int planes = batch*c;
    const int strips = w > 0 ? (w - 1)/128 + 1 : 0, chunks = h > 0 ? (h - 1)/MARCH_ROWS + 1 : 0;
    const size_t units = (size_t)planes*chunks*strips;
    const unsigned blocks = (unsigned)((units + 3)/4);
    const bool vec = ((size_t)input | (size_t)output) % 16 == 0 && w % 4 == 0;
    if(vec) dw_march<true><<<blocks, 128>>>(input, weights, biases, output, c, h, w, strips, chunks, (unsigned)units);
    else dw_march<false><<<blocks, 128>>>(input, weights, biases, output, c, h, w, strips, chunks, (unsigned)units);
}