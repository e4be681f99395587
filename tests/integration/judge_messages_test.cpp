// What a model is told of a version that compiles and runs and is wrong, by the real judge: each mistake is planted
// into a correct source and mended from the message alone, by code that looks for what the message says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "agents/briefing.h"
#include "base/file.h"
#include "base/lines.h"
#include "judge/judge.h"
#include "tests/support/worker_process.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

constexpr const char* kFile = "src/scale.cu";
const std::string kScale =
    "#include <cuda_runtime.h>\n"
    "__global__ void scale_rows(float* out, const float* in, int rows, int columns) {\n"
    "  const int row = blockIdx.x;\n"
    "  for (int i = threadIdx.x; i < columns; i += 64)\n"
    "    out[(size_t)row * columns + i] = 3.0f * in[(size_t)row * columns + i];\n"
    "}\n"
    "void scale(float* out, const float* in, int rows, int columns) {\n"
    "  if (rows > 0) scale_rows<<<rows, 64>>>(out, in, rows, columns);\n"
    "}\n";

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

core::KernelSpec Spec() {
  core::KernelSpec spec;
  spec.name = spec.entry = "scale";
  spec.file = kFile;
  spec.args = {Arg("out", Buffer(core::DType::kF32, {"rows", "columns"}, core::Role::kOut)),
               Arg("in", Buffer(core::DType::kF32, {"rows", "columns"}, core::Role::kIn)),
               Arg("rows", core::ScalarArgument{core::DType::kI32, {}}),
               Arg("columns", core::ScalarArgument{core::DType::kI32, {}})};
  spec.cases = {MakeCase("small", {{"rows", int64_t{24}}, {"columns", int64_t{101}}})};
  return spec;
}

class JudgeMessages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new base::TemporaryDirectory(std::move(*base::TemporaryDirectory::Create("ww-messages")));
    trusted_ = StartWorker(folder_->path()).release();
    untrusted_ = StartWorker(folder_->path()).release();
    judge_ = new judge::Judge(Spec(), Source(kScale), "sim:h200", *trusted_,
                              {.repository = folder_->path(), .secret_seed = 4711});
    const auto baseline = judge_->Prepare();
    ASSERT_TRUE(baseline) << baseline.error().Format();
    ASSERT_TRUE(std::holds_alternative<core::Measured>(baseline->original)) << core::VerdictMessage(baseline->original);
  }
  static void TearDownTestSuite() {
    delete judge_;
    delete untrusted_;
    delete trusted_;
    delete folder_;
  }
  static core::SourceRef Source(const std::string& text) { return {folder_->path().string(), kFile, text}; }
  // What a prompt says of this source; empty: it is right.
  static std::string MessageOf(const std::string& text) {
    const auto verdict = judge_->Evaluate(Source(text), *untrusted_, judge::VerificationLevel::kQuick);
    if (!verdict) return verdict.error().Format();
    if (std::holds_alternative<core::Measured>(*verdict)) return {};
    return std::regex_replace(agents::VerdictText(*verdict), std::regex("\n\\| "), " ");  // as a reader joins lines
  }

  static base::TemporaryDirectory* folder_;
  static worker::WorkerEvaluator *trusted_, *untrusted_;
  static judge::Judge* judge_;
};
base::TemporaryDirectory* JudgeMessages::folder_ = nullptr;
worker::WorkerEvaluator *JudgeMessages::trusted_ = nullptr, *JudgeMessages::untrusted_ = nullptr;
judge::Judge* JudgeMessages::judge_ = nullptr;

std::string Found(const std::string& message, const std::string& pattern) {
  std::smatch match;
  EXPECT_TRUE(std::regex_search(message, match, std::regex(pattern))) << pattern << "\n" << message;
  return match.size() > 1 ? match[1].str() : std::string();
}

// The literal as it has to be where results are `scale` times too large.
std::string Unscaled(const std::string& literal, const std::string& scale) {
  const double value = std::stod(literal) / std::stod(scale);
  return fmt::format("{:.1f}f", value);
}

// The one factor of the whole source.
std::string MendScale(const std::string& message, const std::string& text) {
  const std::string scale = Found(message, "all of them, each is ([0-9.]+) times what is expected");
  const std::string literal = Found(text, "= ([0-9.]+f) \\*");
  return Replaced(text, "= " + literal, "= " + Unscaled(literal, scale));
}

// What the source does with the last columns, by the number that the message gives, becomes what it does with the rest.
std::string MendTail(const std::string& message, const std::string& text) {
  const std::string columns = Found(message, "the last ([0-9]+) columns of 24 rows");
  const std::string scale = Found(message, "each is ([0-9.]+) times what is expected");
  const std::string rest = "(i < columns - " + columns + " ? ";
  const size_t at = text.find(rest);
  EXPECT_NE(at, std::string::npos) << message;
  const std::string choice = text.substr(at, text.find(')', at) + 1 - at);
  const std::string of_tail = Found(choice, " : ([0-9.]+f)");
  return Replaced(text, choice, Unscaled(of_tail, scale));
}

// What the source does in one row alone is left out.
std::string MendRow(const std::string& message, const std::string& text) {
  const std::string row = Found(message, "all in row ([0-9]+), none is finite");
  const size_t at = text.find("(row == " + row + " ? "), colon = text.find(" : ", at), end = text.find(");", colon);
  EXPECT_NE(end, std::string::npos) << message;
  return text.substr(0, at) + text.substr(colon + 3, end - colon - 3) + text.substr(end + 1);
}

// A store that spares one column does not.
std::string MendStore(const std::string& message, const std::string& text) {
  EXPECT_NE(message.find("is not written (24 of 2424 elements"), std::string::npos) << message;
  return Replaced(text, "if (i != " + Found(message, "all in column ([0-9]+)") + ") ", "");
}

std::string MendDeadLine(const std::string& message, const std::string& text) {
  const int line = std::stoi(Found(message, "the added line ([0-9]+) .* never runs"));
  std::string mended;
  int number = 0;
  for (const std::string_view one : base::LinesOf(text))
    if (++number != line) mended += std::string(one) + "\n";
  return mended;
}

TEST_F(JudgeMessages, TheCorrectSourceIsRight) { EXPECT_EQ(MessageOf(Replaced(kScale, "+= 64", "+= 64u")), ""); }

TEST_F(JudgeMessages, AreEnoughToMendAMistake) {
  const std::string input = "in[(size_t)row * columns + i]";
  const struct {
    const char* what;
    std::string text;
    std::string (*mend)(const std::string& message, const std::string& text);
  } rows[] = {
      {"a wrong scale", Replaced(kScale, "3.0f", "3.5f"), MendScale},
      {"a tail", Replaced(kScale, "3.0f", "(i < columns - 3 ? 3.0f : 2.0f)"), MendTail},
      {"a row of NaN", Replaced(kScale, input, "(row == 5 ? sqrtf(-1.0f) : " + input + ")"), MendRow},
      {"a missing store", Replaced(kScale, "    out[", "    if (i != 7) out["), MendStore},
      {"a line that never runs",
       Replaced(kScale, "blockIdx.x;\n", "blockIdx.x;\n  if (columns < 0) {\n    out[row] = 0.0f;\n  }\n"),
       MendDeadLine},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const std::string message = MessageOf(row.text);
    ASSERT_NE(message, "");
    EXPECT_EQ(MessageOf(row.mend(message, row.text)), "") << message;
  }
}

}  // namespace
}  // namespace warpwright
