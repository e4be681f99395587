#include "nr.h"

/* Slow Fourier transform of n complex values (re, im in separate arrays), isign=+1 or -1. One block per frequency. */
__global__ void dftk(CDP *xr, CDP *xi, DP *yr, DP *yi, INT n, INT isign)
{
	__shared__ DP sr[64], si[64];
	const INT k=blockIdx.x, t=threadIdx.x;
	DP sumr=0.0, sumi=0.0;
	for (INT j=t;j<n;j+=blockDim.x) {
		/* (j*k) mod n keeps the argument small */
		DP theta=isign*2.0*M_PI*(DP)(((long long)j*k)%n)/n;
		DP s,c;
		sincos(theta,&s,&c);
		sumr += xr[j]*c-xi[j]*s;
		sumi += xr[j]*s+xi[j]*c;
	}
	sr[t]=sumr;
	si[t]=sumi;
	__syncthreads();
	for (INT m=blockDim.x>>1;m>0;m>>=1) {
		if (t<m) {
			sr[t] += sr[t+m];
			si[t] += si[t+m];
		}
		__syncthreads();
	}
	if (t==0) {
		yr[k]=sr[0];
		yi[k]=si[0];
	}
}

void dft(CDP *xr, CDP *xi, DP *yr, DP *yi, INT n, INT isign)
{
	dftk<<<n,64>>>(xr,xi,yr,yi,n,isign);
}
