// Where warps are, and what they wait for: program counters sampled by the hardware while kernels run at nearly full
// speed, and the source lines that they belong to (the cubin's line table: compile with -lineinfo).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/counters.h"
#include "gpu/cupti_library.h"

namespace warpwright::gpu {

// One instruction. `stalls` counts the samples of warps at this instruction, by stall reason: "long_scoreboard";
// "selected" is a warp that issued it.
struct PcRecord {
  std::string function;  // mangled
  uint64_t pc = 0;       // offset in the function
  std::map<std::string, uint64_t> stalls;
};
struct PcSamples {
  std::vector<PcRecord> records;
  uint64_t total = 0, dropped = 0;  // as the hardware counted them
  uint64_t foreign = 0;             // of these, in code unknown to CUPTI: the driver's, and modules loaded too early
  bool overflow = false;            // the buffer was full: the samples cover only the beginning
};

// The run to sample. CUPTI knows only modules that were loaded while sampling was enabled, and counts samples in older
// ones as foreign: so `load` loads the module, even if it is loaded already, and prepares the state before the kernels;
// `run` launches the kernels of that copy. Both wait for completion. `expected_us` is roughly how long the kernels
// take: the period is chosen so that long runs do not overflow the buffer and short ones are still sampled.
struct SampledRun {
  std::function<Status()> load, run;
  double expected_us = 0;
};
// Samples all kernels that `sampled.run` launches on the context. kEnvironment: the system refuses (see Cupti::Check).
Result<PcSamples> SamplePcs(const Cupti& cupti, CUcontext context, const SampledRun& sampled);

// Cycles between two samples of a scheduler, as a power of two that CUPTI accepts (5 to 31).
int PeriodExponent(double expected_us);

struct SourceLine {
  std::string file;
  int line = 0;
  auto operator<=>(const SourceLine&) const = default;
};
// The lines of a cubin's instructions. Needs no GPU. CUPTI (13.0) remembers them by the name of the function and the
// size of the cubin, for as long as the process lives: another version of a kernel whose cubin is as large had the
// lines of the first. So each different cubin is copied once, to a size of its own.
class CubinLines {
 public:
  CubinLines(const Cupti& cupti, std::span<const std::byte> cubin);
  // nullopt: the cubin has no such function, or no line for the instruction. The file is an absolute path: the compiler
  // prepended its working directory.
  std::optional<SourceLine> At(const std::string& function, uint64_t pc) const;

 private:
  const Cupti& cupti_;
  const std::span<const std::byte> kept_;
};

// The name that a module's PTX (.file) has for that path, which is the user's name for it; the path itself if there is
// none.
std::string NameInModule(const std::string& path, std::string_view ptx);

// The lines of one function with the most samples, hottest first. Samples without a line are left out.
std::vector<core::LineCounters> HottestLines(const PcSamples& samples, const std::string& function,
                                             const std::function<std::optional<SourceLine>(uint64_t pc)>& locate,
                                             size_t limit);

}  // namespace warpwright::gpu
