// 2D advection-diffusion on a doubly periodic grid, SSP-RK3 (Shu-Osher), central differences
//
//   du/dt = -ax u_x - ay u_y + nu (u_xx + u_yy),      h = 1
//
//   u1 = u + dt L(u)
//   u2 = 3/4 u + 1/4 (u1 + dt L(u1))
//   u  = 1/3 u + 2/3 (u2 + dt L(u2))
//
// The field is advanced in place by `steps` steps; u1 and u2 are work arrays of the same size.

#include <cuda_runtime.h>

struct Coeffs {
  float ax, ay, nu, dt;
};

// dst = wa * u + wb * (v + dt * L(v))
// In the last stage dst is u: a thread touches only its own point of it, so that is fine.
__global__ void rkStage(float* dst, const float* u, const float* v, int nx, int ny, float wa, float wb, Coeffs c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;

  const int ip = i + 1 == nx ? 0 : i + 1;
  const int im = i == 0 ? nx - 1 : i - 1;
  const int jp = j + 1 == ny ? 0 : j + 1;
  const int jm = j == 0 ? ny - 1 : j - 1;

  const float vc = v[j * nx + i];
  const float ve = v[j * nx + ip];
  const float vw = v[j * nx + im];
  const float vn = v[jp * nx + i];
  const float vs = v[jm * nx + i];

  const float rhs = -0.5f * c.ax * (ve - vw) - 0.5f * c.ay * (vn - vs) + c.nu * (ve + vw + vn + vs - 4.0f * vc);
  dst[j * nx + i] = wa * u[j * nx + i] + wb * (vc + c.dt * rhs);
}

extern "C" cudaError_t advect_rk3(float* u, float* u1, float* u2, int nx, int ny, int steps, float ax, float ay,
                                  float nu, float dt, cudaStream_t stream) {
  const Coeffs c{ax, ay, nu, dt};
  const dim3 block(16, 16);
  const dim3 grid((nx + 15) / 16, (ny + 15) / 16);
  for (int s = 0; s < steps; ++s) {
    rkStage<<<grid, block, 0, stream>>>(u1, u, u, nx, ny, 0.0f, 1.0f, c);
    rkStage<<<grid, block, 0, stream>>>(u2, u, u1, nx, ny, 0.75f, 0.25f, c);
    rkStage<<<grid, block, 0, stream>>>(u, u, u2, nx, ny, 1.0f / 3.0f, 2.0f / 3.0f, c);
  }
  return cudaGetLastError();
}
