#include "tests/support/stranger_forms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "compile/compiler.h"
#include "config/chip_file.h"
#include "config/manifest.h"
#include "core/computation_json.h"
#include "source/slice.h"
#include "tests/support/compiled_cache.h"

namespace warpwright::testing {
namespace {

const std::string kTests = std::string(WW_SOURCE_DIR) + "/tests";

std::vector<Stranger> Load() {
  std::vector<Stranger> strangers;
  std::map<std::string, core::Manifest> manifests;
  std::istringstream lines(base::ReadFile(kTests + "/golden/stranger-forms.jsonl").value());
  for (std::string line; std::getline(lines, line);) {
    const auto json = base::ParseJson(line).value();
    Stranger stranger;
    stranger.name = json.at("entry");
    const std::string folder = stranger.name.substr(0, stranger.name.find('/'));
    stranger.root = kTests + "/strangers/" + folder;
    if (!manifests.contains(folder)) manifests[folder] = config::LoadManifest(stranger.root).value();
    for (const core::KernelSpec& spec : manifests[folder].kernels)
      if (folder + "/" + spec.name == stranger.name) stranger.spec = spec;
    stranger.form = core::DecodeComputation(base::DumpJson(json.at("computation"))).value();
    stranger.text = base::ReadFile(std::filesystem::path(stranger.root) / stranger.spec.file).value();
    strangers.push_back(std::move(stranger));
  }
  return strangers;
}

std::string TypeOf(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64: return "double";
    case core::DType::kF16: return "__half";
    case core::DType::kBF16: return "__nv_bfloat16";
    case core::DType::kI64: return "long long";
    case core::DType::kI32: return "int";
    case core::DType::kU32: return "unsigned int";
    case core::DType::kI8: return "signed char";
    case core::DType::kU8: return "unsigned char";
    case core::DType::kBool: return "bool";
    case core::DType::kF32: break;
  }
  return "float";
}

}  // namespace

const std::vector<Stranger>& Strangers() {
  static const std::vector<Stranger> strangers = Load();
  return strangers;
}

const Stranger& Find(const std::string& name) {
  const auto& all = Strangers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Stranger& s) { return s.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

core::Scheduling SchedulingOf(const Stranger& stranger) {
  return {stranger.form, stranger.spec, core::ScheduledCases(stranger.spec, core::DeviceKind::kCuda),
          config::LoadChip("h200").value()};
}

std::string Apply(const std::string& schedule, const Stranger& stranger, const std::string& text,
                  const schedule::ParameterValues& parameters) {
  core::RewriteRequest request{
      {stranger.root, stranger.spec.file, text}, stranger.spec.entry, "", schedule, parameters, {}};
  request.scheduling = SchedulingOf(stranger);
  const auto outcome = schedule::Apply(request);
  if (!outcome) return "ERROR: " + outcome.error().Format();
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome)) return "REFUSED: " + refusal->reason;
  return std::get<core::Rewritten>(*outcome).text;
}

std::string StubFor(const Stranger& stranger) {
  std::string parameters, values, includes;
  for (const core::Argument& argument : stranger.spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    const core::DType dtype = buffer ? buffer->dtype : std::get<core::ScalarArgument>(argument.kind).dtype;
    const bool in = buffer && buffer->role == core::Role::kIn;
    parameters += fmt::format("{}{}{}{} {}", parameters.empty() ? "" : ", ", in ? "const " : "", TypeOf(dtype),
                              buffer ? "*" : "", argument.name);
    values += (values.empty() ? "" : ", ") + argument.name;
    if (dtype == core::DType::kF16) includes = "#include <cuda_fp16.h>\n\n";
  }
  // Two kernels, so that new ones have names of their own.
  return fmt::format(
      "{}__global__ void first_kernel() {{}}\n\n__global__ void old_kernel({}) {{}}\n\nvoid {}({}) {{\n"
      "  first_kernel<<<1, 1>>>();\n  old_kernel<<<1, 1>>>({});\n}}\n",
      includes, parameters, stranger.spec.entry, parameters, values);
}

std::string CompileError(const Stranger& stranger, const std::string& text) {
  const auto slices = source::Slice({stranger.root, stranger.spec.file, text}, stranger.spec.entry);
  if (!slices) return slices.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*slices)) return refused->reason;
  const auto& cut = std::get<source::Slices>(*slices);
  // Instances of templates as the launcher names them.
  std::set<std::string> kernels;
  static const std::regex launch("(\\w+(<\\d+>)?)<<<");
  std::set<std::string> named(cut.kernels.begin(), cut.kernels.end());
  for (std::sregex_iterator at(text.begin(), text.end(), launch), end; at != end; ++at) {
    const std::string name = (*at)[1];
    if (named.contains(name.substr(0, name.find('<')))) kernels.insert(name);
  }
  compile::CompileRequest request;
  request.file = stranger.spec.file;
  request.text = cut.device;
  request.headers = cut.device_headers;
  request.kernels = {kernels.begin(), kernels.end()};
  request.build = compile::Build::kOther;  // PTX alone: half the time
  static const auto compiler = compile::Compiler::Create(CompiledCache()).value();
  const auto compiled = compiler.Compile(request);
  if (!compiled) return compiled.error().Format();
  const auto* failed = std::get_if<core::CompileFailed>(&*compiled);
  return failed ? failed->log : "";
}

}  // namespace warpwright::testing
