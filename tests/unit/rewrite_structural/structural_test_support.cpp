#include "structural_test_support.h"

#include "base/file.h"
#include "compile/compiler.h"
#include "rewrite/transform.h"
#include "source/slice.h"

namespace warpwright::structural_test {
namespace {

const std::string kExamples = std::string(WW_SOURCE_DIR) + "/config/examples/kernels";

std::string Outcome(const core::RewriteRequest& request) {
  const auto outcome = rewrite::ApplyTransform(request);
  if (!outcome) return "ERROR: " + outcome.error().Format();
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome)) return "REFUSED: " + refusal->reason;
  return std::get<core::Rewritten>(*outcome).text;
}

}  // namespace

std::string Apply(const std::string& transform, const std::string& source, const std::string& entry,
                  const Parameters& parameters) {
  return Outcome({{kExamples, "kernel.cu", source}, entry, "", transform, parameters});
}

std::string ApplyToExample(const std::string& transform, const std::string& file, const std::string& entry,
                           const Parameters& parameters) {
  return Outcome({{kExamples, file, ReadExample(file)}, entry, "", transform, parameters});
}

std::string ReadExample(const std::string& file) { return base::ReadFile(kExamples + "/" + file).value_or(""); }

std::string CompileError(const std::string& text, const std::string& file, const std::string& entry,
                         const std::vector<std::string>& kernels) {
  static const auto compiler = compile::Compiler::Create("");
  if (!compiler) return compiler.error().Format();
  const auto sliced = source::Slice({kExamples, file, text}, entry);
  if (!sliced) return sliced.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) return refused->reason;
  const source::Slices& slices = std::get<source::Slices>(*sliced);
  const auto compiled = compiler->Compile({file, slices.device, slices.device_headers, kernels, "sm_80"});
  if (!compiled) return compiled.error().Format();
  const auto* failed = std::get_if<core::CompileFailed>(&*compiled);
  return failed == nullptr ? "" : failed->log;
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace warpwright::structural_test
