#include "compile/nvrtc.h"

#include <dlfcn.h>

#include <mutex>

namespace warpwright::compile {
namespace {

template <typename F>
bool Find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

// NVRTC opens the library of its built-in headers by name only. If the toolkit is not on the loader's paths (the
// packages from PyPI), that name resolves because the library is already loaded.
void LoadBuiltIns(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("libnvrtc-builtins.so."))
      ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

Result<Nvrtc> Open(const Toolkit& toolkit) {
  LoadBuiltIns(toolkit.nvrtc.parent_path());
  // Never closed: NVRTC keeps its own threads and caches.
  void* library = ::dlopen(toolkit.nvrtc.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(ErrorCode::kEnvironment, std::string("NVRTC does not load: ") + ::dlerror());
  Nvrtc n;
  const bool complete =
      Find(library, "nvrtcVersion", n.Version) && Find(library, "nvrtcGetErrorString", n.GetErrorString) &&
      Find(library, "nvrtcCreateProgram", n.CreateProgram) && Find(library, "nvrtcDestroyProgram", n.DestroyProgram) &&
      Find(library, "nvrtcAddNameExpression", n.AddNameExpression) &&
      Find(library, "nvrtcCompileProgram", n.CompileProgram) &&
      Find(library, "nvrtcGetLoweredName", n.GetLoweredName) &&
      Find(library, "nvrtcGetProgramLogSize", n.GetProgramLogSize) &&
      Find(library, "nvrtcGetProgramLog", n.GetProgramLog) && Find(library, "nvrtcGetPTXSize", n.GetPTXSize) &&
      Find(library, "nvrtcGetPTX", n.GetPTX) && Find(library, "nvrtcGetCUBINSize", n.GetCUBINSize) &&
      Find(library, "nvrtcGetCUBIN", n.GetCUBIN);
  if (!complete)
    return Fail(ErrorCode::kEnvironment, toolkit.nvrtc.string() + " lacks functions of NVRTC", "install CUDA 12 or 13");
  int major = 0, minor = 0;
  n.Version(&major, &minor);
  n.version = std::to_string(major) + "." + std::to_string(minor);
  return n;
}

}  // namespace

Result<const Nvrtc*> LoadNvrtc(const Toolkit& toolkit) {
  static std::once_flag once;
  static Result<Nvrtc> nvrtc = Fail(ErrorCode::kEnvironment, "NVRTC was not opened");
  std::call_once(once, [&] { nvrtc = Open(toolkit); });
  if (!nvrtc) return Fail(nvrtc.error());
  return &*nvrtc;
}

}  // namespace warpwright::compile
