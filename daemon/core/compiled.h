// What NVRTC compiled from a device slice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpwright::core {

struct KernelResources {
  std::string kernel;  // the requested name expression: "softmax<float, 4>"
  std::string symbol;  // mangled, as in PTX and cubin
  int registers = 0;   // per thread
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int static_shared_bytes = 0;
  int local_bytes = 0;               // stack frame per thread
  int constant_bytes = 0;            // parameters included
  int max_threads_per_block = 1024;  // __launch_bounds__
};

struct CompiledModule {
  std::string arch;  // "sm_90"
  std::string ptx;   // with .loc directives (-lineinfo)
  std::vector<std::byte> cubin;
  std::vector<KernelResources> kernels;
  std::string log;  // warnings, with the user's file and line
  std::string key;  // content address of all inputs

  const KernelResources* Find(const std::string& kernel) const {
    for (const auto& k : kernels)
      if (k.kernel == kernel) return &k;
    return nullptr;
  }
};

// "ns::table" is mangled as _ZN2ns5tableE; a static variable at file scope as _ZL5table.
bool NamesVariable(const std::string& mangled, const std::string& source_form);

}  // namespace warpwright::core
