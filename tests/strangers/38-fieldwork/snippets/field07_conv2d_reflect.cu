// 5x5 convolution with reflection padding (style transfer nets use it to get rid of the border artefacts)
// NCHW, fp32, stride 1, output has the size of the input.

#include <stdio.h>
#include <cuda_runtime.h>

// -2 -1 | 0 1 2 ... n-1 | n n+1   ->   2 1 | 0 1 2 ... n-1 | n-2 n-3
__device__ __forceinline__ int reflect(int i, int n)
{
	if (i < 0)
		i = -i;
	if (i >= n)
		i = 2 * n - 2 - i;
	// images thinner than the padding: at least stay inside
	return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

template<int R>
__global__ void convReflect(const float *in, const float *weight, const float *bias, float *out,
                            int Cin, int Cout, int H, int W)
{
	const int KS = 2 * R + 1;
	extern __shared__ float filter[];	// Cin * KS * KS, of this block's output channel

	int co = blockIdx.z % Cout;
	int n = blockIdx.z / Cout;
	int tid = threadIdx.y * blockDim.x + threadIdx.x;
	for (int i = tid; i < Cin * KS * KS; i += blockDim.x * blockDim.y)
		filter[i] = weight[co * Cin * KS * KS + i];
	__syncthreads();

	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= W || y >= H)
		return;

	float acc = bias[co];
	for (int c = 0; c < Cin; c++) {
		const float *plane = in + (size_t)(n * Cin + c) * H * W;
		const float *f = filter + c * KS * KS;
		for (int dy = -R; dy <= R; dy++) {
			const float *line = plane + (size_t)reflect(y + dy, H) * W;
			for (int dx = -R; dx <= R; dx++)
				acc += *f++ * line[reflect(x + dx, W)];
		}
	}
	out[((size_t)(n * Cout + co) * H + y) * W + x] = acc;
}

extern "C" void conv2d_reflect(const float *in, const float *weight, const float *bias, float *out,
                               int N, int Cin, int Cout, int H, int W)
{
	dim3 threads(32, 8);
	dim3 blocks((W + 31) / 32, (H + 7) / 8, N * Cout);
	convReflect<2><<<blocks, threads, Cin * 25 * sizeof(float)>>>(in, weight, bias, out, Cin, Cout, H, W);
	cudaError_t err = cudaGetLastError();
	if (err != cudaSuccess)
		fprintf(stderr, "conv2d_reflect: %s\n", cudaGetErrorString(err));
}
