// How a project builds the file of a kernel, as its manifest says. Whatever reads the file here (the parser, NVRTC,
// g++, nvcc) is told the same, of the original and of a candidate alike: with --use_fast_math both are compiled so.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::core {

enum class CxxStandard : uint8_t { k14, k17, k20 };
std::string_view Name(CxxStandard standard);  // "c++17"
constexpr CxxStandard Last(CxxStandard) { return CxxStandard::k20; }

// What nvcc is told beyond that, of what matters to device code. None names a file, a program or an output.
enum class BuildFlag : uint8_t {
  kUseFastMath,
  kNoFusedMultiplyAdd,
  kFlushDenormals,
  kApproximateDivision,
  kApproximateRoots,
  kRelaxedConstexpr,
  kExtendedLambda,
  // For H100 and H200 alone, with what runs on no other chip: wgmma. On others it means nothing here.
  kHopperAlone,
};
std::string_view Name(BuildFlag flag);  // "--use_fast_math", "-fmad=false"
constexpr BuildFlag Last(BuildFlag) { return BuildFlag::kHopperAlone; }

// What compilers define in a build for H100 and H200 alone.
inline constexpr std::string_view kHopperAloneMacro = "__CUDA_ARCH_FEAT_SM90_ALL";

struct BuildOptions {
  std::vector<std::string> include;           // folders below the root, in the order of the search; "." is the root
  std::map<std::string, std::string> define;  // "-DTILE=32" is TILE: 32, "-DTILE" is TILE: 1
  CxxStandard standard = CxxStandard::k17;
  std::set<BuildFlag> flags;
  int line = 0;  // in the manifest, of what names the folders

  bool IsDefault() const { return Text() == BuildOptions().Text(); }
  // "-Iinclude -DTILE=32 -std=c++17 --use_fast_math": equal for what builds alike, and part of the keys of all caches.
  std::string Text() const;
  std::vector<std::string> Defines() const;  // "-DTILE=32", which all compilers understand
  std::string Directives() const;            // the same as lines of source, whatever was defined before
  // What the chip's architecture ("sm_90") is for this build ("sm_90a").
  std::string ArchitectureOf(const std::string& chip) const;
  // All of it for nvcc but the architecture, with folders below `root`.
  std::vector<std::string> NvccArguments(const std::string& root) const;
};

}  // namespace warpwright::core
