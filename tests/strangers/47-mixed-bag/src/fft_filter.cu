// Filters signals of 1024 complex samples in the frequency domain:
//     out = ifft( fft(signal) .* response )
// Radix-4 Stockham, five passes in shared memory, one signal to a block of 256 threads.
#include <cuda_runtime.h>

namespace dsp {

class cplx {
 public:
  float re, im;
  __device__ cplx operator+(const cplx& o) const { return {re + o.re, im + o.im}; }
  __device__ cplx operator-(const cplx& o) const { return {re - o.re, im - o.im}; }
  __device__ cplx operator*(const cplx& o) const {
    return {re * o.re - im * o.im, re * o.im + im * o.re};
  }
};

constexpr int N = 1024;
constexpr int T = N / 4;

// +1: inverse, -1: forward
template <int SIGN>
__device__ cplx mul_i(cplx a) { return SIGN > 0 ? cplx{-a.im, a.re} : cplx{a.im, -a.re}; }

template <int SIGN>
__device__ void fft4(cplx v[4]) {
  cplx a = v[0] + v[2];
  cplx b = v[0] - v[2];
  cplx c = v[1] + v[3];
  cplx d = mul_i<SIGN>(v[1] - v[3]);
  v[0] = a + c;
  v[1] = b + d;
  v[2] = a - c;
  v[3] = b - d;
}

template <int SIGN>
__device__ void transform(cplx* buf) {
  const int j = threadIdx.x;
  for (int ns = 1; ns < N; ns *= 4) {
    const int k = j % ns;
    cplx v[4];
    for (int r = 0; r < 4; ++r) {
      float s, c;
      sincospif(SIGN * 2.0f * r * k / (ns * 4), &s, &c);
      v[r] = buf[j + r * T] * cplx{c, s};
    }
    fft4<SIGN>(v);
    __syncthreads();
    const int dst = (j / ns) * ns * 4 + k;
    for (int r = 0; r < 4; ++r) buf[dst + r * ns] = v[r];
    __syncthreads();
  }
}

__global__ void fft_filter_kernel(const cplx* signal, const cplx* response, cplx* out) {
  __shared__ cplx buf[N];
  const size_t base = (size_t)blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += T) buf[i] = signal[base + i];
  __syncthreads();

  transform<-1>(buf);
  for (int i = threadIdx.x; i < N; i += T) buf[i] = buf[i] * response[i];
  __syncthreads();
  transform<+1>(buf);

  for (int i = threadIdx.x; i < N; i += T) {
    cplx v = buf[i];
    out[base + i] = {v.re * (1.0f / N), v.im * (1.0f / N)};
  }
}

}  // namespace dsp

void fft_filter_1024(const float2* signal, const float2* response, float2* out, int batch) {
  dsp::fft_filter_kernel<<<batch, dsp::T>>>(reinterpret_cast<const dsp::cplx*>(signal),
                                            reinterpret_cast<const dsp::cplx*>(response),
                                            reinterpret_cast<dsp::cplx*>(out));
}
