#pragma once
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdio.h>

// check for errors after every launch!
#define checkLaunch()                                                                                  \
    {                                                                                                  \
        cudaError_t e = cudaGetLastError();                                                            \
        if (e != cudaSuccess) printf("CUDA error %s at %s:%d\n", cudaGetErrorString(e), __FILE__, __LINE__); \
    }
