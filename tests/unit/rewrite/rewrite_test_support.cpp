#include "rewrite_test_support.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>

#include "base/file.h"
#include "cli/worker_devices.h"
#include "compile/compiler.h"
#include "config/manifest.h"
#include "judge/inputs.h"
#include "rewrite/transform.h"
#include "source/slice.h"
#include "tests/support/compiled_cache.h"
#include "worker/service.h"

namespace warpwright::rewrite_test {
namespace {

const std::string kExamples = std::string(WW_SOURCE_DIR) + "/config/examples/kernels";

std::string Outcome(const core::RewriteRequest& request) {
  const auto outcome = rewrite::ApplyTransform(request);
  if (!outcome) return "ERROR: " + outcome.error().Format();
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome))
    return fmt::format("REFUSED {}: {}", refusal->line, refusal->reason);
  return std::get<core::Rewritten>(*outcome).text;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Result<core::Executed> Execute(const core::KernelSpec& spec, const core::Case& c, const std::string& text,
                               std::vector<core::BufferContent> buffers) {
  static worker::Service service(CompiledCache(), cli::OpenDevice);
  core::ExecuteRequest request;
  request.source = {kExamples, spec.file, text};
  request.spec = spec;
  request.case_name = c.name;
  request.scalars = c.scalars;
  request.buffers = std::move(buffers);
  request.device = "sim:h200";
  WW_ASSIGN(core::ExecuteOutcome outcome, service.Execute(request));
  const auto fail = [](const std::string& what) { return Fail(ErrorCode::kUnsupported, what); };
  if (const auto* failed = std::get_if<core::CompileFailed>(&outcome)) return fail("compile: " + failed->log);
  if (const auto* refused = std::get_if<core::Refused>(&outcome)) return fail("refused: " + refused->reason);
  if (const auto* faulted = std::get_if<core::Faulted>(&outcome)) return fail("fault: " + faulted->fault.message);
  return std::get<core::Executed>(std::move(outcome));
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
std::string ApplyTo(const std::string& transform, const std::string& text, const std::string& file,
                    const std::string& entry, const Parameters& parameters) {
  return Outcome({{kExamples, file, text}, entry, "", transform, parameters});
}
std::string ReadExample(const std::string& file) { return base::ReadFile(kExamples + "/" + file).value_or(""); }

std::string CompileError(const std::string& text, const std::string& entry, const std::string& file) {
  static const auto compiler = compile::Compiler::Create("");
  if (!compiler) return compiler.error().Format();
  const auto sliced = source::Slice({kExamples, file, text}, entry);
  if (!sliced) return sliced.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) return refused->reason;
  const source::Slices& slices = std::get<source::Slices>(*sliced);
  for (const char* arch : {"sm_80", "sm_90"}) {
    const auto compiled = compiler->Compile({file, slices.device, slices.device_headers, {}, arch});
    if (!compiled) return compiled.error().Format();
    if (const auto* failed = std::get_if<core::CompileFailed>(&*compiled)) return failed->log;
  }
  return "";
}

core::KernelSpec ExampleSpec(const std::string& name) {
  const auto manifest = config::LoadManifest(kExamples);
  if (!manifest) throw std::runtime_error(manifest.error().Format());
  for (const core::KernelSpec& spec : manifest->kernels)
    if (spec.name == name) return spec;
  throw std::runtime_error("no example " + name);
}

core::KernelSpec Spec(const std::string& args, const std::string& cases, const std::string& entry) {
  const std::string text = fmt::format(
      "version: 1\nkernels:\n  - {{name: k, file: kernel.cu, entry: {}, args: {}, cases: {}}}\n", entry, args, cases);
  const auto manifest = config::ParseManifest(text, "test.yml");
  if (!manifest) throw std::runtime_error(manifest.error().Format());
  return manifest->kernels.at(0);
}

std::string Difference(const core::KernelSpec& spec, const std::string& case_name, const std::string& original,
                       const std::string& rewritten, const Comparison& comparison) {
  const auto found =
      std::find_if(spec.cases.begin(), spec.cases.end(), [&](const core::Case& c) { return c.name == case_name; });
  if (found == spec.cases.end()) return "no case " + case_name;
  auto inputs = judge::MakeInputs(spec, *found, judge::InputVariant::kBase, 7, kExamples);
  if (!inputs) return inputs.error().Format();
  for (core::BufferContent& buffer : *inputs) buffer.pointer_offset = comparison.pointer_offset;
  const auto before = Execute(spec, *found, original, *inputs);
  if (!before) return "original: " + before.error().message;
  const auto after = Execute(spec, *found, rewritten, *inputs);
  if (!after) return "rewritten: " + after.error().message;
  size_t buffer = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* description = std::get_if<core::BufferArgument>(&argument.kind);
    if (description == nullptr) continue;
    const auto &x = before->buffers[buffer], &y = after->buffers[buffer];
    ++buffer;
    if (comparison.relative == 0) {
      if (x != y) return argument.name + " differs";
      continue;
    }
    const size_t count = x.size() / core::SizeOf(description->dtype);
    double largest = 0;
    for (size_t i = 0; i < count; ++i)
      largest = std::max(largest, std::fabs(core::LoadAsDouble(description->dtype, x.data(), i)));
    for (size_t i = 0; i < count; ++i) {
      const double a = core::LoadAsDouble(description->dtype, x.data(), i),
                   b = core::LoadAsDouble(description->dtype, y.data(), i);
      if (!(std::fabs(a - b) <= comparison.relative * largest))
        return fmt::format("{}[{}]: {} and {}", argument.name, i, a, b);
    }
  }
  return "";
}

std::string AddedLines(const std::string& original, const std::string& rewritten) {
  std::multiset<std::string> old;
  for (const std::string& line : Lines(original)) old.insert(line);
  std::string added;
  for (const std::string& line : Lines(rewritten)) {
    const auto same = old.find(line);
    if (same != old.end()) old.erase(same);
    else added += line + "\n";
  }
  return added;
}

}  // namespace warpwright::rewrite_test
