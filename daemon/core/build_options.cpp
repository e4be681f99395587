#include "core/build_options.h"

#include <utility>

namespace warpwright::core {

std::string_view Name(CxxStandard standard) {
  switch (standard) {
    case CxxStandard::k14: return "c++14";
    case CxxStandard::k17: return "c++17";
    case CxxStandard::k20: return "c++20";
  }
  return "?";
}

std::string_view Name(BuildFlag flag) {
  switch (flag) {
    case BuildFlag::kUseFastMath: return "--use_fast_math";
    case BuildFlag::kNoFusedMultiplyAdd: return "-fmad=false";
    case BuildFlag::kFlushDenormals: return "-ftz=true";
    case BuildFlag::kApproximateDivision: return "-prec-div=false";
    case BuildFlag::kApproximateRoots: return "-prec-sqrt=false";
    case BuildFlag::kRelaxedConstexpr: return "--expt-relaxed-constexpr";
    case BuildFlag::kExtendedLambda: return "--extended-lambda";
    case BuildFlag::kHopperAlone: return "-arch=sm_90a";
  }
  return "?";
}

std::vector<std::string> BuildOptions::Defines() const {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : define) arguments.push_back("-D" + name + "=" + value);
  return arguments;
}

std::string BuildOptions::Directives() const {
  std::string text;
  for (const auto& [name, value] : define)
    text += std::string("#undef ") + name + "\n#define " + name + " " + value + "\n";
  return text;
}

std::vector<std::string> BuildOptions::NvccArguments(const std::string& root) const {
  std::vector<std::string> arguments = {"-std=" + std::string(Name(standard))};
  for (const std::string& folder : include) arguments.push_back("-I" + (folder == "." ? root : root + "/" + folder));
  for (std::string& argument : Defines()) arguments.push_back(std::move(argument));
  for (const BuildFlag flag : flags)
    if (flag != BuildFlag::kHopperAlone) arguments.emplace_back(Name(flag));
  return arguments;
}

std::string BuildOptions::ArchitectureOf(const std::string& chip) const {
  return chip == "sm_90" && flags.contains(BuildFlag::kHopperAlone) ? "sm_90a" : chip;
}

std::string BuildOptions::Text() const {
  std::string text;
  for (const std::string& folder : include) text += "-I" + folder + " ";
  for (const std::string& argument : Defines()) text += argument + " ";
  text.append("-std=").append(Name(standard));
  for (const BuildFlag flag : flags) text.append(" ").append(Name(flag));
  return text;
}

}  // namespace warpwright::core
