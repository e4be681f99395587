#ifndef _NR_CUDA_H_
#define _NR_CUDA_H_
#include <cuda_runtime.h>
#include <math.h>

typedef double DP;
typedef float SP;
typedef const double CDP;
typedef int INT;

template<class T> __device__ inline T SQR(const T a) {return a*a;}
template<class T> __device__ inline void SWAP(T &a, T &b) {T dum=a; a=b; b=dum;}
#define IMIN(a,b) ((a)<(b)?(a):(b))

#endif
