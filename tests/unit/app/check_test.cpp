// What check reports for a manifest and its kernels; and what init drafts.
#include "app/check.h"

#include "app/draft_workflow.h"
#include "app/init.h"
#include "tests/unit/app/app_bench.h"

namespace warpwright {
namespace {

core::ParameterInfo Pointer(const std::string& name, bool is_const) {
  core::ParameterInfo parameter;
  parameter.name = name;
  parameter.type = is_const ? "const float *" : "float *";
  parameter.is_pointer = true;
  parameter.is_const = is_const;
  parameter.dtype = core::DType::kF32;
  return parameter;
}
core::ParameterInfo Scalar(const std::string& name, core::DType dtype = core::DType::kI32) {
  core::ParameterInfo parameter;
  parameter.name = name;
  parameter.type = "int";
  parameter.dtype = dtype;
  return parameter;
}

class CheckTest : public AppTest {
 protected:
  CheckTest() {
    device_.parameters = {Pointer("out", false), Pointer("in", true), Scalar("N")};
    CommitKernels({"a"});
  }
  app::CheckReport Check(std::vector<std::string> kernels = {}) {
    auto report = app::CheckRepository(Open(std::move(kernels), gpu_), {device_,
                                                                        [this]() -> Result<skills::SkillLibrary> {
                                                                          if (!skills_) return Fail(skills_.error());
                                                                          return skills::SkillLibrary();
                                                                        },
                                                                        toolchain()});
    EXPECT_TRUE(report) << report.error().Format();
    return report.value_or(app::CheckReport());
  }
  Status skills_;
  std::optional<core::GpuFacts> gpu_;
};

TEST_F(CheckTest, AGoodRepositoryHasNoComplaint) {
  const app::CheckReport report = Check();
  EXPECT_EQ(report.kernels, 1u);
  EXPECT_TRUE(report.errors.empty()) << report.errors[0].Format();
}

// The smallest case is compiled, recorded and run; of the others it is foreseen what becomes of them.
TEST_F(CheckTest, SaysWhatWillBecomeOfEveryCase) {
  const auto entry = [](const std::string& cases) {
    return ManifestOf(ElementwiseEntry("a", cases, "launch")) + "policy: {max_rounds: 2}\n";
  };
  repository_.Write(".warpwright.yml",
                    entry("{name: small, N: 1000}\n      - {name: large, N: 4000000}\n"
                          "      - {name: huge, N: 400000000}\n      - {name: gpu, N: 10, on: [cuda]}"));
  const app::CheckReport report = Check();
  ASSERT_TRUE(report.errors.empty()) << report.errors[0].Format();
  ASSERT_EQ(report.fates.size(), 1u);
  const auto& cases = report.fates[0].cases;
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_TRUE(cases[0].tried);
  EXPECT_EQ(cases[0].fate, app::CaseFate::kCompared) << cases[0].why;
  EXPECT_EQ(cases[1].fate, app::CaseFate::kTimedOnly);
  EXPECT_NE(cases[1].why.find("million instructions"), std::string::npos) << cases[1].why;
  EXPECT_EQ(cases[2].fate, app::CaseFate::kTooLarge);
  EXPECT_EQ(cases[3].fate, app::CaseFate::kOtherDevice);
}

// The judge's limits hold on both kinds of devices; a GPU compares what is small and marked for the simulator alone.
TEST_F(CheckTest, SaysWhatWillBecomeOfEveryCaseOnAGpu) {
  gpu_.emplace();
  repository_.Write(".warpwright.yml",
                    ManifestOf(ElementwiseEntry("a",
                                                "{name: small, N: 1000}\n      - {name: large, N: 4000000}\n"
                                                "      - {name: huge, N: 400000000}\n"
                                                "      - {name: odd, N: 10, on: [sim]}\n"
                                                "      - {name: simulated, N: 4000000, on: [sim]}",
                                                "launch")));
  const app::CheckReport report = Check();
  ASSERT_TRUE(report.errors.empty()) << report.errors[0].Format();
  ASSERT_EQ(report.fates.size(), 1u);
  std::map<std::string, std::string> fates;
  for (const app::CheckedCase& c : report.fates[0].cases) {
    fates[c.name] = Name(c.fate);
    EXPECT_EQ(c.tried, c.name == "small");
  }
  EXPECT_EQ(fates, (std::map<std::string, std::string>{{"small", "compared and timed"},
                                                       {"large", "compared and timed"},
                                                       {"huge", "too large"},
                                                       {"odd", "compared, not timed"},
                                                       {"simulated", "for another device"}}));
}

TEST_F(CheckTest, SaysWhatWillBeRefused) {
  repository_.Write("a.cu", "// nothing that compiles\n");
  const app::CheckReport report = Check();
  ASSERT_EQ(report.fates.size(), 1u);
  EXPECT_EQ(report.fates[0].cases.at(0).fate, app::CaseFate::kRefused);
  EXPECT_NE(report.fates[0].cases[0].why.find("no such kernel"), std::string::npos) << report.fates[0].cases[0].why;
}

// What is wrong with a kernel as a whole stands in the same table.
TEST_F(CheckTest, EveryKernelIsInTheTable) {
  for (const char* file : {"b.cu", "c.cu", "d.cu"}) repository_.Write(file, ScaleSource(1));
  repository_.Write("large.cu", std::string(9u << 20, ' '));
  std::string unanswered = ElementwiseEntry("d", "{name: small, N: 10}", "launch");
  unanswered.replace(unanswered.find("[N]"), 3, "[?]");
  repository_.Write(".warpwright.yml",
                    ManifestOf(ElementwiseEntry("a", "{name: small, N: 1000}", "launch") +
                               ElementwiseEntry("b", "{name: huge, N: 400000000}", "launch") +
                               ElementwiseEntry("c", "{name: small, N: 10}", "nowhere") +
                               ElementwiseEntry("large", "{name: small, N: 10}", "launch") + unanswered));
  const app::CheckReport report = Check();
  std::map<std::string, std::string> fates;
  for (const app::CheckedKernel& kernel : report.fates) {
    ASSERT_EQ(kernel.cases.size(), 1u) << kernel.name;
    fates[kernel.name] = Name(kernel.cases[0].fate);
    EXPECT_EQ(kernel.cases[0].why.empty(), kernel.name == "a") << kernel.name << kernel.cases[0].why;
  }
  EXPECT_EQ(fates, (std::map<std::string, std::string>{{"a", "compared and timed"},
                                                       {"b", "not tried"},
                                                       {"c", "cannot be read"},
                                                       {"d", "waits for an answer"},
                                                       {"large", "cannot be read"}}));
  EXPECT_EQ(report.errors.size(), 4u);
}

// Also where one kernel is asked for, and where all wait.
TEST_F(CheckTest, AKernelThatWaitsIsInTheTableOfItsOwn) {
  std::string waiting = ElementwiseEntry("d", "{name: small, N: 10}", "launch");
  waiting.replace(waiting.find("[N]"), 3, "[?]");
  for (const std::string& answered : {ElementwiseEntry("a", "{name: small, N: 1000}", "launch"), std::string()}) {
    repository_.Write(".warpwright.yml", ManifestOf(answered + waiting));
    const app::CheckReport report = Check({"d"});
    ASSERT_EQ(report.fates.size(), 1u);
    EXPECT_EQ(report.fates[0].name, "d");
    EXPECT_EQ(report.fates[0].cases.at(0).fate, app::CaseFate::kUnanswered);
    EXPECT_EQ(report.errors.size(), 1u);
  }
}

// What is valid and refused is not called unreadable; its place is written as errors write it.
TEST_F(CheckTest, AnEntryThatCannotBeSlicedIsRefused) {
  device_.refusal = "the launcher uses CUDA graphs";
  const app::CheckReport report = Check();
  ASSERT_EQ(report.fates.size(), 1u);
  EXPECT_EQ(report.fates[0].cases.at(0).fate, app::CaseFate::kRefused);
  EXPECT_EQ(report.fates[0].cases[0].why, "the launcher uses CUDA graphs (a.cu:14)");
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_TRUE(report.errors[0].Format().starts_with("a.cu:14: 'launch' cannot be optimized: "));
  EXPECT_NE(report.errors[0].remedy.find("the entry in .warpwright.yml"), std::string::npos) << report.errors[0].remedy;
}

TEST_F(CheckTest, EveryPartIsLookedAt) {
  skills_ = Fail(ErrorCode::kConfig, "bad skills");
  toolchain_ = Fail(ErrorCode::kEnvironment, "no toolkit");
  repository_.Write(".warpwright.yml", "version: 1\nkernels: 7\n");
  const app::CheckReport report = Check();
  ASSERT_EQ(report.errors.size(), 3u);
  EXPECT_EQ(report.errors[0].message, "bad skills");
  EXPECT_EQ(report.errors[2].message, "no toolkit");
}

TEST_F(CheckTest, TheSignatureIsTheSources) {
  struct Row {
    std::vector<core::ParameterInfo> parameters;
    std::string complaint;
  };
  for (const Row& row :
       {Row{{Pointer("out", false)}, "launch has 1 parameters, the manifest gives 3"},
        Row{{Pointer("result", false), Pointer("in", true), Scalar("N")},
            "argument 1 is named 'out', but 'result' in the source"},
        Row{{Pointer("out", true), Pointer("in", true), Scalar("N")},
            "'out' is const in the source; its role must be in"},
        Row{{Pointer("out", false), Scalar("in"), Scalar("N")}, "'in' is a scalar in the source (int)"},
        Row{{Pointer("out", false), Pointer("in", true), Scalar("N", core::DType::kI64)},
            "'N' is i64 in the source (int), but i32 in the manifest"}}) {
    device_.parameters = row.parameters;
    const app::CheckReport report = Check();
    ASSERT_EQ(report.errors.size(), 1u) << row.complaint;
    EXPECT_EQ(report.errors[0].message, "kernel 'a': " + row.complaint);
    EXPECT_EQ(report.errors[0].file, ".warpwright.yml");
    EXPECT_GT(report.errors[0].line, 0);
  }
}

TEST_F(CheckTest, InitDraftsAndWritesNothing) {
  std::filesystem::remove(repository_.path() / ".warpwright.yml");
  repository_.Git({"checkout", "-q", "-b", "trunk"});
  const auto draft = app::DraftFiles(Open(), {.version = "1.0"}, device_, {});
  ASSERT_TRUE(draft) << draft.error().Format();
  EXPECT_EQ(draft->sources, 1u);
  EXPECT_NE(draft->manifest.text.value_or("").find("entry: launch"), std::string::npos);
  EXPECT_EQ(draft->branch, "trunk");
  EXPECT_EQ(draft->workflow.text, app::DraftWorkflow({"trunk", "1.0", ""}));
  EXPECT_FALSE(std::filesystem::exists(draft->manifest.path));
  EXPECT_FALSE(std::filesystem::exists(draft->workflow.path));
}

TEST_F(CheckTest, InitKeepsWhatIsThereUnlessAsked) {
  const auto kept = app::DraftFiles(Open(), {.version = "1.0"}, device_, {});
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->manifest.text);
  EXPECT_TRUE(kept->workflow.text);
  EXPECT_FALSE(app::DraftFiles(Open(), {.workflow = false}, device_, {})) << "there is nothing to draft";
  EXPECT_TRUE(app::DraftFiles(Open(), {.replace = true}, device_, {})->manifest.text);
}

}  // namespace
}  // namespace warpwright
