// Homework 3: shared memory.
#include <cuda_runtime.h>

const int threadsPerBlock = 128;

__global__ void dot(float *a, float *b, float *c, int n) {
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) atomicAdd(c, cache[0]);
}

void dotProduct(float *a, float *b, float *c, int n) {
    cudaMemset(c, 0, sizeof(float));
    int blocks = (n + threadsPerBlock - 1) / threadsPerBlock;
    if (blocks > 32) blocks = 32;
    dot<<<blocks, threadsPerBlock>>>(a, b, c, n);
}

// Conway: the world is a torus
__global__ void lifeStep(int *welt, int *neueWelt, int breite, int hoehe) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= breite || y >= hoehe) return;
    int nachbarn = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            int nx = (x + dx + breite) % breite;
            int ny = (y + dy + hoehe) % hoehe;
            nachbarn += welt[ny * breite + nx];
        }
    if (nachbarn == 3 || (nachbarn == 2 && welt[y * breite + x] == 1))
        neueWelt[y * breite + x] = 1;
    else
        neueWelt[y * breite + x] = 0;
}

void gameOfLife(int *welt, int *neueWelt, int breite, int hoehe) {
    dim3 block(16, 16);
    dim3 grid((breite + 15) / 16, (hoehe + 15) / 16);
    lifeStep<<<grid, block>>>(welt, neueWelt, breite, hoehe);
}

// two generations in one call, the second world is only in between
void gameOfLifeTwice(int *welt, int *zwischen, int *neueWelt, int breite, int hoehe) {
    dim3 block(16, 16);
    dim3 grid((breite + 15) / 16, (hoehe + 15) / 16);
    lifeStep<<<grid, block>>>(welt, zwischen, breite, hoehe);
    lifeStep<<<grid, block>>>(zwischen, neueWelt, breite, hoehe);
}

// histogram of letters: text is lower case only, 26 counters in shared memory
__global__ void letterKernel(const unsigned char *text, int *haeufigkeit, int laenge) {
    __shared__ int zaehler[26];
    if (threadIdx.x < 26) zaehler[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < laenge) {
        int letter = text[i] - 'a';
        if (letter >= 0 && letter < 26) atomicAdd(&zaehler[letter], 1);
    }
    __syncthreads();
    if (threadIdx.x < 26) atomicAdd(&haeufigkeit[threadIdx.x], zaehler[threadIdx.x]);
}

void countLetters(const unsigned char *text, int *haeufigkeit, int laenge) {
    cudaMemset(haeufigkeit, 0, 26 * sizeof(int));
    letterKernel<<<(laenge + 63) / 64, 64>>>(text, haeufigkeit, laenge);
}
