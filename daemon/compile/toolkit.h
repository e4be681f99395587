// Locates the CUDA toolkit. Nothing of it is linked: NVRTC is opened at run time, so that every program starts without
// the toolkit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright::compile {

struct Toolkit {
  std::filesystem::path root;
  std::filesystem::path nvrtc;                         // libnvrtc.so.13
  std::vector<std::filesystem::path> include_folders;  // include/, include/cccl
};

// CUDA_HOME, the toolkit of the build, nvcc on PATH, /usr/local/cuda: the first with NVRTC and headers. An Error
// (kEnvironment) lists the folders searched and how to install a toolkit.
Result<Toolkit> FindToolkit();

// The toolkit's own nvcc, or else one of the others that were searched; empty: there is none.
std::filesystem::path FindNvcc(const Toolkit& toolkit);

}  // namespace warpwright::compile
