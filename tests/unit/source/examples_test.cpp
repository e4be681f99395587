// The kernels of config/examples: every entry and every case slices, records and compiles.
#include <gtest/gtest.h>

#include "base/file.h"
#include "config/manifest.h"
#include "source/inspect.h"
#include "source/signature.h"
#include "tests/unit/source/support.h"

namespace warpwright {
namespace {

const std::filesystem::path kRoot = std::filesystem::path(WW_SOURCE_DIR) / "config/examples/kernels";

std::vector<core::KernelSpec> Kernels() {
  auto manifest = config::LoadManifest(kRoot);
  if (!manifest) throw std::runtime_error(manifest.error().Format());
  return manifest->kernels;
}

class Example : public testing::TestWithParam<core::KernelSpec> {};

TEST_P(Example, SlicesRecordsAndCompiles) {
  const core::KernelSpec& spec = GetParam();
  const auto text = base::ReadFile(kRoot / spec.file);
  ASSERT_TRUE(text);
  const core::SourceRef source{kRoot.string(), spec.file, *text};
  const auto sliced = source::Slice(source, spec.entry);
  ASSERT_TRUE(sliced) << sliced.error().Format();
  ASSERT_TRUE(std::holds_alternative<source::Slices>(*sliced)) << std::get<core::Refused>(*sliced).reason;
  const source::Slices& slices = std::get<source::Slices>(*sliced);
  EXPECT_EQ(slices.notes, std::vector<std::string>());
  for (const core::Case& c : spec.cases) {
    const auto recorded = source::RecordPlan(slices, RequestFor(spec, c));
    ASSERT_TRUE(recorded) << recorded.error().Format();
    ASSERT_TRUE(std::holds_alternative<source::Recorded>(*recorded)) << std::get<core::Refused>(*recorded).reason;
    const core::LaunchPlan& plan = std::get<source::Recorded>(*recorded).plan;
    EXPECT_FALSE(plan.ops.empty());
    if (&c == &spec.cases.front()) ExpectCompiles(slices, plan);
  }
}

// The proposal of `warpwright init` agrees with the author's manifest.
TEST_P(Example, InspectionAgreesWithTheManifest) {
  const core::KernelSpec& spec = GetParam();
  const auto text = base::ReadFile(kRoot / spec.file);
  ASSERT_TRUE(text);
  const auto inspection = source::InspectSource({kRoot.string(), spec.file, *text});
  ASSERT_TRUE(inspection);
  const auto entry = std::find_if(inspection->entries.begin(), inspection->entries.end(),
                                  [&](const core::EntryInfo& e) { return e.name == spec.entry; });
  ASSERT_NE(entry, inspection->entries.end());
  EXPECT_EQ(entry->refusal, "");
  std::vector<core::ParameterInfo> parameters = entry->parameters;
  std::erase_if(parameters, source::IsStream);  // not an argument of the manifest
  ASSERT_EQ(parameters.size(), spec.args.size());
  for (size_t i = 0; i < spec.args.size(); ++i) {
    const core::ParameterInfo& parameter = parameters[i];
    if (const auto* buffer = std::get_if<core::BufferArgument>(&spec.args[i].kind)) {
      EXPECT_TRUE(parameter.is_pointer) << parameter.name;
      EXPECT_EQ(parameter.dtype, buffer->dtype) << parameter.name;
      EXPECT_EQ(parameter.likely_role, buffer->role) << parameter.name;
    } else {
      EXPECT_EQ(parameter.dtype, std::get<core::ScalarArgument>(spec.args[i].kind).dtype) << parameter.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Example, testing::ValuesIn(Kernels()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warpwright
