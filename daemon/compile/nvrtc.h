// NVRTC, opened once per process.
#pragma once

#include <nvrtc.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "compile/toolkit.h"

namespace warpwright::compile {

// The functions that we call, under the library's names.
struct Nvrtc {
  decltype(&::nvrtcVersion) Version;
  decltype(&::nvrtcGetErrorString) GetErrorString;
  decltype(&::nvrtcCreateProgram) CreateProgram;
  decltype(&::nvrtcDestroyProgram) DestroyProgram;
  decltype(&::nvrtcAddNameExpression) AddNameExpression;
  decltype(&::nvrtcCompileProgram) CompileProgram;
  decltype(&::nvrtcGetLoweredName) GetLoweredName;
  decltype(&::nvrtcGetProgramLogSize) GetProgramLogSize;
  decltype(&::nvrtcGetProgramLog) GetProgramLog;
  decltype(&::nvrtcGetPTXSize) GetPTXSize;
  decltype(&::nvrtcGetPTX) GetPTX;
  decltype(&::nvrtcGetCUBINSize) GetCUBINSize;
  decltype(&::nvrtcGetCUBIN) GetCUBIN;
  std::string version;  // "13.0"
};

// Opens the toolkit's NVRTC on the first call; later calls return the same one.
Result<const Nvrtc*> LoadNvrtc(const Toolkit& toolkit);

class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& nvrtc, nvrtcProgram program) : nvrtc_(&nvrtc), program_(program) {}
  NvrtcProgram(NvrtcProgram&& other) noexcept
      : nvrtc_(other.nvrtc_), program_(std::exchange(other.program_, nullptr)) {}
  NvrtcProgram& operator=(NvrtcProgram&&) = delete;
  ~NvrtcProgram() {
    if (program_ != nullptr) nvrtc_->DestroyProgram(&program_);
  }
  nvrtcProgram get() const { return program_; }

 private:
  const Nvrtc* nvrtc_;
  nvrtcProgram program_;
};

}  // namespace warpwright::compile
