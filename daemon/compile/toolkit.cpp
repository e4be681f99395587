#include "compile/toolkit.h"

#include <unistd.h>

#include <cstdlib>

namespace warpwright::compile {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Roots() {
  std::vector<fs::path> roots;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') roots.emplace_back(home);
  roots.emplace_back(WW_BUILD_CUDA_ROOT);
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path nvcc = fs::path(rest.substr(0, colon)) / "nvcc";
    std::error_code error;
    if (fs::exists(nvcc, error)) roots.push_back(fs::canonical(nvcc, error).parent_path().parent_path());
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  roots.emplace_back("/usr/local/cuda");
  return roots;
}

fs::path FindNvrtc(const fs::path& root) {
  std::error_code ignored;
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (fs::exists(root / folder / name, ignored)) return root / folder / name;
  return {};
}

}  // namespace

fs::path FindNvcc(const Toolkit& toolkit) {
  std::vector<fs::path> roots = Roots();
  roots.insert(roots.begin(), toolkit.root);
  for (const fs::path& root : roots)
    if (::access((root / "bin/nvcc").c_str(), X_OK) == 0) return root / "bin/nvcc";
  return {};
}

Result<Toolkit> FindToolkit() {
  std::string looked;
  for (const auto& root : Roots()) {
    std::error_code ignored;
    const fs::path nvrtc = FindNvrtc(root);
    if (!nvrtc.empty() && fs::exists(root / "include/cuda_fp16.h", ignored)) {
      Toolkit toolkit{root, nvrtc, {root / "include"}};
      if (fs::exists(root / "include/cccl", ignored)) toolkit.include_folders.push_back(root / "include/cccl");
      return toolkit;
    }
    looked += (looked.empty() ? "" : ", ") + root.string();
  }
  return Fail(ErrorCode::kEnvironment, "no CUDA toolkit with NVRTC and headers (looked at " + looked + ")",
              "set CUDA_HOME, or run script/bootstrap: it says how to get one");
}

}  // namespace warpwright::compile
