// entry: k
// buffer: x f32 64
// kernel-launch: 1 64
// refused: k is a template: name its arguments @ 5
template <typename T> __global__ void k(T* x) { x[threadIdx.x] = 0; }
