#include "nr.h"

#define NMAX 16

/* Many small systems: each thread decomposes A = L L^T in place (lower triangle) and solves for its right-hand side.
   a[nsys][n][n], b[nsys][n]; the upper triangle of a is not touched. To be safe with any a the diagonal is made dominant:
   A <- A + n*I. */
__global__ void cholk(DP *a, DP *b, INT n, INT nsys)
{
	INT sys=blockIdx.x*blockDim.x+threadIdx.x;
	if (sys>=nsys) return;
	DP *A=a+(size_t)sys*n*n, *B=b+(size_t)sys*n;
	DP x[NMAX];
	INT i,j,k;
	DP sum;
	for (i=0;i<n;i++) A[i*n+i] += n;
	for (i=0;i<n;i++) {
		for (j=0;j<=i;j++) {
			for (sum=A[i*n+j],k=j-1;k>=0;k--) sum -= A[i*n+k]*A[j*n+k];
			if (i==j) A[i*n+i]=sqrt(sum);
			else A[i*n+j]=sum/A[j*n+j];
		}
	}
	for (i=0;i<n;i++) {
		for (sum=B[i],k=i-1;k>=0;k--) sum -= A[i*n+k]*x[k];
		x[i]=sum/A[i*n+i];
	}
	for (i=n-1;i>=0;i--) {
		for (sum=x[i],k=i+1;k<n;k++) sum -= A[k*n+i]*x[k];
		x[i]=sum/A[i*n+i];
	}
	for (i=0;i<n;i++) B[i]=x[i];
}

void cholsolve(DP *a, DP *b, INT n, INT nsys)
{
	cholk<<<(nsys+63)/64,64>>>(a,b,n,nsys);
}
