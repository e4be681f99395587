// One WaveNet layer (inference over a whole utterance, float32)
//
//   a = causal_conv(x; wf, dilation) + bf        kernel size 2:  w[..][0] * x[t - dilation] + w[..][1] * x[t]
//   g = causal_conv(x; wg, dilation) + bg
//   z = tanh(a) * sigmoid(g)
//   y = x + wr z + br                            to the next layer
//   skip += ws z + bs                            accumulated over the layers
//
//   x, y, z: [B, C, T]      skip: [B, S, T]

#include <cuda_runtime.h>

#define TPB 128

#define CHECK_LAUNCH()                                \
	do {                                          \
		cudaError_t e_ = cudaGetLastError();  \
		if (e_ != cudaSuccess)                \
			return (int)e_;               \
	} while (0)

__global__ void wn_gate(const float *x, const float *wf, const float *bf, const float *wg, const float *bg,
			float *z, int C, int T, int dilation)
{
	int t = blockIdx.x * TPB + threadIdx.x;
	int c = blockIdx.y;
	if (t >= T)
		return;

	const float *xb = x + (size_t)blockIdx.z * C * T;
	float a = bf[c];
	float g = bg[c];
	for (int ci = 0; ci < C; ci++) {
		float now = xb[(size_t)ci * T + t];
		float past = t >= dilation ? xb[(size_t)ci * T + t - dilation] : 0.0f;
		int k = (c * C + ci) * 2;
		a += wf[k] * past + wf[k + 1] * now;
		g += wg[k] * past + wg[k + 1] * now;
	}
	z[((size_t)blockIdx.z * C + c) * T + t] = tanhf(a) / (1.0f + expf(-g));
}

__global__ void wn_out(const float *x, const float *z, const float *wr, const float *br, const float *ws,
		       const float *bs, float *y, float *skip, int C, int S, int T)
{
	int t = blockIdx.x * TPB + threadIdx.x;
	int o = blockIdx.y;		/* 0 .. C - 1: residual, C .. C + S - 1: skip */
	if (t >= T)
		return;

	const float *zb = z + (size_t)blockIdx.z * C * T;
	const float *w = o < C ? wr + (size_t)o * C : ws + (size_t)(o - C) * C;
	float sum = o < C ? br[o] : bs[o - C];
	for (int c = 0; c < C; c++)
		sum += w[c] * zb[(size_t)c * T + t];

	if (o < C) {
		size_t i = ((size_t)blockIdx.z * C + o) * T + t;
		y[i] = x[i] + sum;
	} else {
		skip[((size_t)blockIdx.z * S + o - C) * T + t] += sum;
	}
}

extern "C" int wavenet_layer(const float *x, const float *wf, const float *bf, const float *wg, const float *bg,
			     const float *wr, const float *br, const float *ws, const float *bs, float *z, float *y,
			     float *skip, int B, int C, int S, int T, int dilation)
{
	int nt = (T + TPB - 1) / TPB;

	wn_gate<<<dim3(nt, C, B), TPB>>>(x, wf, bf, wg, bg, z, C, T, dilation);
	CHECK_LAUNCH();
	wn_out<<<dim3(nt, C + S, B), TPB>>>(x, z, wr, br, ws, bs, y, skip, C, S, T);
	CHECK_LAUNCH();
	return 0;
}
