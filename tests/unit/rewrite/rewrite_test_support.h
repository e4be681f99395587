// Applies a transformation to a source text, compiles the result, and runs original and result on the simulated device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/kernel_spec.h"

namespace warpwright::rewrite_test {

using Parameters = std::map<std::string, std::string>;

// The rewritten file; "REFUSED 12: reason" with the line if one is given; "ERROR: ..." for usage errors.
std::string Apply(const std::string& transform, const std::string& source, const std::string& entry = "run",
                  const Parameters& parameters = {});
std::string ApplyToExample(const std::string& transform, const std::string& file, const std::string& entry,
                           const Parameters& parameters = {});
// The same for a text that takes the place of a file of the example repository.
std::string ApplyTo(const std::string& transform, const std::string& text, const std::string& file,
                    const std::string& entry, const Parameters& parameters);
std::string ReadExample(const std::string& file);

// Slices for the entry and compiles for sm_80 and sm_90 with NVRTC: "" or the reason.
std::string CompileError(const std::string& text, const std::string& entry = "run",
                         const std::string& file = "kernel.cu");

// A kernel of the example repository's manifest.
core::KernelSpec ExampleSpec(const std::string& name);
// One kernel of a manifest: its `file` is kernel.cu. `args` and `cases` in YAML flow style.
core::KernelSpec Spec(const std::string& args, const std::string& cases, const std::string& entry = "run");

struct Comparison {
  double relative = 0;         // of the largest output; 0: bit for bit
  int64_t pointer_offset = 0;  // bytes by which every buffer is misaligned
};
// "" or what differs between the outputs of the two files in the named case.
std::string Difference(const core::KernelSpec& spec, const std::string& case_name, const std::string& original,
                       const std::string& rewritten, const Comparison& comparison = {});

// Lines of `rewritten` that `original` does not have, in order: what a reviewer sees in green.
std::string AddedLines(const std::string& original, const std::string& rewritten);

}  // namespace warpwright::rewrite_test
