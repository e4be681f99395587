/* Jacobi for the Poisson equation on a fixed grid, with the squared norm of the update. */
#include <cuda_runtime.h>

constexpr int NX = 48;
constexpr int NY = 40;

__global__ void jacobi_kernel(const double *__restrict__ a, const double *__restrict__ f, double *__restrict__ anew,
                              double *__restrict__ row_norm)
{
  __shared__ double s[64];
  const int iy = blockIdx.x + 1;
  double local = 0;
  for (int ix = threadIdx.x + 1; ix < NX - 1; ix += blockDim.x) {
    const double v = 0.25 * (a[iy * NX + ix + 1] + a[iy * NX + ix - 1] + a[(iy + 1) * NX + ix] + a[(iy - 1) * NX + ix] - f[iy * NX + ix]);
    anew[iy * NX + ix] = v;
    const double d = v - a[iy * NX + ix];
    local += d * d;
  }
  s[threadIdx.x] = local;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) row_norm[blockIdx.x] = s[0];
}

__global__ void copy_boundary(const double *a, double *anew)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < NX) {
    anew[i] = a[i];
    anew[(NY - 1) * NX + i] = a[(NY - 1) * NX + i];
  }
  if (i < NY) {
    anew[i * NX] = a[i * NX];
    anew[i * NX + NX - 1] = a[i * NX + NX - 1];
  }
}

__global__ void total_norm(const double *row_norm, double *norm)
{
  double s = 0;
  for (int i = 0; i < NY - 2; i++) s += row_norm[i];
  *norm = sqrt(s);
}

void jacobi_iteration(const double *a, const double *f, double *anew, double *row_norm, double *norm)
{
  copy_boundary<<<1, 64>>>(a, anew);
  jacobi_kernel<<<NY - 2, 64>>>(a, f, anew, row_norm);
  total_norm<<<1, 1>>>(row_norm, norm);
}

/* Gray-Scott reaction-diffusion, both species at once, periodic */
__global__ void gray_scott_kernel(const float2 *in, float2 *out, int w, int h, float du, float dv, float feed, float kill)
{
  for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < w * h; p += gridDim.x * blockDim.x) {
    int x = p % w, y = p / w;
    float2 c = in[p];
    float2 l = in[y * w + (x + w - 1) % w], r = in[y * w + (x + 1) % w];
    float2 u = in[((y + h - 1) % h) * w + x], d = in[((y + 1) % h) * w + x];
    float lu = l.x + r.x + u.x + d.x - 4 * c.x;
    float lv = l.y + r.y + u.y + d.y - 4 * c.y;
    float uvv = c.x * c.y * c.y;
    out[p] = make_float2(c.x + du * lu - uvv + feed * (1 - c.x), c.y + dv * lv + uvv - (feed + kill) * c.y);
  }
}

void gray_scott(const float2 *in, float2 *out, int w, int h, float du, float dv, float feed, float kill)
{
  gray_scott_kernel<<<132, 256>>>(in, out, w, h, du, dv, feed, kill);
}
