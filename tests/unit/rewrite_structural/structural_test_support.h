// Applies a transformation to a source text, and compiles the result for a device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evaluator.h"

namespace warpwright::structural_test {

using Parameters = std::map<std::string, std::string>;

// The rewritten file. A refusal or an error becomes "REFUSED: ..." and "ERROR: ...".
std::string Apply(const std::string& transform, const std::string& source, const std::string& entry,
                  const Parameters& parameters = {});
// The same for a file of the example repository ("src/softmax.cu").
std::string ApplyToExample(const std::string& transform, const std::string& file, const std::string& entry,
                           const Parameters& parameters = {});
std::string ReadExample(const std::string& file);

// Slices for the entry and compiles with NVRTC for sm_80, the oldest chip: "" or the reason. `kernels`: name
// expressions.
std::string CompileError(const std::string& text, const std::string& file, const std::string& entry,
                         const std::vector<std::string>& kernels);

// How often `part` occurs.
int Count(const std::string& text, const std::string& part);

}  // namespace warpwright::structural_test
