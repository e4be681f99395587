// entry: forward
// buffer: x f32 64
// refused: PyTorch (torch::) @ 6
#include <torch/extension.h>
template <typename T> __global__ void k(T* x) { x[threadIdx.x] += 1; }
torch::Tensor forward(torch::Tensor x) {
  AT_DISPATCH_FLOATING_TYPES(x.type(), "forward", ([&] { k<scalar_t><<<1, 64>>>(x.data_ptr<scalar_t>()); }));
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
