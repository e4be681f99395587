/* log-mel front end without an FFT library: table, direct DFT, power, mel filter bank, log */
#include "../include/gpu_util.h"

__global__ void make_twiddles(float* cosines, float* sines, int nfft)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nfft) {
        cosines[i] = cospif(2.0f * i / nfft);
        sines[i] = sinpif(2.0f * i / nfft);
    }
}

__global__ void dft_power(const float* audio, const float* window, const float* cosines, const float* sines, float* power, int samples,
                          int frames, int nfft, int hop)
{
    int bins = nfft / 2 + 1;
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int f = blockIdx.y, b = blockIdx.z;
    if (k >= bins) return;
    const float* s = audio + (size_t)b * samples + (size_t)f * hop;
    float re = 0.f, im = 0.f;
    int phase = 0;
    for (int n = 0; n < nfft; n++) {
        float v = s[n] * window[n];
        re += v * cosines[phase];
        im -= v * sines[phase];
        phase += k;
        if (phase >= nfft) phase -= nfft;
    }
    power[((size_t)b * frames + f) * bins + k] = re * re + im * im;
}

__global__ void mel_log(const float* power, const float* bank, float* mel, int total_frames, int bins, int mels, float floor_value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total_frames * mels) return;
    int m = i % mels, f = i / mels;
    float e = 0.f;
    for (int k = 0; k < bins; k++)
        e += bank[m * bins + k] * power[(size_t)f * bins + k];
    mel[i] = logf(e > floor_value ? e : floor_value);
}

extern "C" int log_mel_spectrogram(const float* audio, const float* window, const float* bank, float* mel, float* cosines, float* sines,
                                   float* power, int batch, int frames, int nfft, int hop, int mels, float floor_value, cudaStream_t stream)
{
    int bins = nfft / 2 + 1;
    int samples = (frames - 1) * hop + nfft;
    make_twiddles<<<(nfft + 127) / 128, 128, 0, stream>>>(cosines, sines, nfft);
    dft_power<<<dim3((bins + 63) / 64, frames, batch), 64, 0, stream>>>(audio, window, cosines, sines, power, samples, frames, nfft, hop);
    mel_log<<<(batch * frames * mels + 127) / 128, 128, 0, stream>>>(power, bank, mel, batch * frames, bins, mels, floor_value);
    return 0;
}
