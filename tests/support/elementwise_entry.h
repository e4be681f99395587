// out[N] from in[N]: the manifest's entry for it, and a kernel that can be made slow, as tests of whole revisions need
// them.
#pragma once

#include <string>

namespace warpwright {

// The entry `name` in <name>.cu. `cases`: "{N: 65536}".
inline std::string ElementwiseEntry(const std::string& name, const std::string& cases,
                                    const std::string& function = {}) {
  return "  - name: " + name + "\n    file: " + name + ".cu\n    entry: " + (function.empty() ? name : function) +
         "\n    args:\n      out: {buffer: f32, shape: [N], role: out}\n"
         "      in: {buffer: f32, shape: [N], role: in}\n"
         "      N: {scalar: i32}\n"
         "    cases:\n      - " +
         cases + "\n";
}
inline std::string ManifestOf(const std::string& entries) { return "version: 1\nkernels:\n" + entries; }

// The function `scale`. `factor` changes the code but not the time; `stride` spreads the reads of neighbouring threads.
inline std::string ScaleSource(int stride, const std::string& factor = "2.0f") {
  const std::string s = std::to_string(stride);
  return "__global__ void scale_kernel(float* out, const float* in, int n) {\n"
         "  int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  int i = (t % (n / " +
         s + ")) * " + s + " + t / (n / " + s +
         ");\n"
         "  if (t < n) out[i] = in[i] * " +
         factor +
         ";\n"
         "}\n"
         "void scale(float* out, const float* in, int N) { scale_kernel<<<(N + 255) / 256, 256>>>(out, in, N); }\n";
}

}  // namespace warpwright
