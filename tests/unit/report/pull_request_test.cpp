#include "report/pull_request.h"
#include "base/utf8.h"
#include "report/pull_request_status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "report/job_summary.h"
#include "report/markdown.h"
#include "tests/support/golden.h"
#include "tests/unit/report/samples.h"

namespace warpwright {
namespace {

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

// Numbers in tables are held together by no-break spaces.
std::string Spaces(const std::string& text) {
  return std::regex_replace(std::regex_replace(text, std::regex("\u00a0"), " "), std::regex("\u2011"), "-");
}

// What stands on the forge when warpwright stops, or did not begin: a foreign commit on its branch, a conflict that it
// cannot carry over, a kernel that it refuses.
TEST(PullRequest, StandingsAreGolden) {
  const std::string body = report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance()).body;
  const std::string foreign =
      "warpwright/layernorm holds commit 4be2f1a0c3d5, which warpwright did not write; warpwright leaves the branch "
      "alone until somebody deletes it";
  ExpectGolden("pull-request-foreign-commit.md", report::MarkOutdated(body, foreign));
  report::Explanation refused = MeasuredLayerNorm();
  refused.outcome = core::TaskOutcome::kRefused;
  refused.outcome_reason = "layernorm_forward: it reads device memory back, and decides by it (line 52)";
  refused.attempts.clear();
  const report::CheckText check = report::RenderCheck(refused, {});
  const std::string comments =
      report::RenderStatusComment("**warpwright no longer updates this pull request**", foreign) + "\n---\n" +
      report::RenderStatusComment("**This conflicts with its base and cannot be carried over** to `89abcdef0123`",
                                  "the kernel's own lines changed") +
      "\n---\n# " + check.title + "\n\n" + check.summary + check.text;
  ExpectGolden("comments.md", comments);
}

TEST(PullRequest, BodiesAreGolden) {
  ExpectGolden("pull-request-modelled.md", report::RenderPullRequest(ModelledSoftmax(), SampleProvenance()).body);
  ExpectGolden("pull-request-measured.md", report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance()).body);
  ExpectGolden("pull-request-huge.md", report::RenderPullRequest(HugeExplanation(), MeasuredProvenance()).body);
}

// The page of the same kernel, with intervals and a case that became slower.
TEST(Report, PageOfAMeasuredGainIsGolden) {
  ExpectGolden("layernorm-measured.html", report::RenderHtml(MeasuredLayerNorm()));
}

TEST(PullRequest, TitlesSayGainDeviceAndTimes) {
  EXPECT_EQ(report::RenderPullRequest(MeasuredLayerNorm(), {}).title,
            "perf(layernorm): 1.64x faster on H200 (100 → 61.1 µs)");
  EXPECT_EQ(
      report::RenderPullRequest(ModelledSoftmax(), {}).title.rfind("perf(softmax): 97.6x faster, modelled, on H200", 0),
      0u);
  report::Explanation e = MeasuredLayerNorm();
  e.kernel = "fixes #12 [skip ci] @octocat " + std::string(200, 'k');
  const std::string title = report::RenderPullRequest(e, {}).title;
  EXPECT_LE(base::CodePoints(title), 72u);
  EXPECT_EQ(title.find_first_of("#@[] \n", 5), title.find("):") + 2) << title;
}

// A modelled gain is labelled as such in title, sentence, note, tables and charts, and opens a draft.
TEST(PullRequest, ModelledGainsAreDraftsAndSaySo) {
  const report::PullRequestText modelled = report::RenderPullRequest(ModelledSoftmax(), SampleProvenance()),
                                measured = report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance());
  EXPECT_TRUE(modelled.draft);
  EXPECT_FALSE(measured.draft);
  EXPECT_NE(modelled.title.find("modelled"), std::string::npos);
  for (const char* place : {"faster**, modelled on H200 (simulated)", "no GPU ran this kernel", "speedup, modelled",
                            "counter (simulated)", "modelled gain, times", "gain, modelled", "none: modelled"})
    EXPECT_NE(modelled.body.find(place), std::string::npos) << place;
  EXPECT_EQ(measured.body.find("modelled"), std::string::npos);
}

// The line with the gain says of which shapes the results were not compared.
TEST(PullRequest, ShapesOfTheHeadlineThatWereNotComparedAreNamedInBold) {
  report::Explanation e = MeasuredLayerNorm();
  const auto line = [&] {
    const std::string body = report::RenderPullRequest(e, {}).body;
    const size_t begin = body.find("**1.64x faster**");
    return body.substr(begin, body.find('\n', begin) - begin);
  };
  EXPECT_TRUE(line().ends_with("**The results of `N=1024,C=12288` were not compared at full size.**")) << line();
  e.check_table.push_back({"reduced-shape", "", true, ""});
  EXPECT_TRUE(line().ends_with("were not compared at full size, only at smaller ones.**")) << line();
  for (report::CaseRow& row : e.cases) row.errors = {{"out", true, 0, 0}};
  EXPECT_EQ(line().find("not compared"), std::string::npos);
}

// So do all other places where the gain stands, and before what was tried.
TEST(PullRequest, EveryPlaceWithTheGainSaysWhatWasNotCompared) {
  report::Explanation e = MeasuredLayerNorm();
  const auto all = [&] {
    return std::vector<std::string>{report::RenderText(e),
                                    report::RenderMarkdown(e),
                                    report::RenderHtml(e),
                                    report::RenderCommitMessage(e),
                                    report::RenderCheck(e, {}).summary,
                                    report::RenderJobSummary({{e, {}, "", ""}})};
  };
  const std::regex said(
      "The\\s+results\\s+of\\s+`?N=1024,C=12288`?\\s+were\\s+not\\s+compared\\s+at\\s+full\\s+size\\.");
  for (const std::string& text : all()) EXPECT_TRUE(std::regex_search(text, said)) << text;
  e.cases.back().weight = 0;  // it is not part of the gain
  for (const std::string& text : all()) EXPECT_EQ(text.find("not compared at full size"), std::string::npos) << text;
}

// Results with the original's bits and sums in another order would contradict each other.
TEST(PullRequest, WhatContradictsIsNotSaid) {
  report::Explanation e = MeasuredLayerNorm();
  for (report::CaseRow& row : e.cases) row.errors = {{"out", true, 0, 0}};
  report::SaySameBits(e);
  const std::string body = report::RenderPullRequest(e, {}).body, message = report::RenderCommitMessage(e);
  EXPECT_NE(body.find("**Bit-identical**"), std::string::npos);
  for (const std::string& text : {body, message, report::RenderText(e)})
    for (const char* order : {"another order", "different order"})
      EXPECT_EQ(text.find(order), std::string::npos) << text;
  EXPECT_NE(body.find("for inputs that were not compared, the last bits may differ"), std::string::npos);
}

// What one part says of a check or a shape, no other part denies.
TEST(PullRequest, PartsAgreeWithEachOther) {
  const report::Explanation e = MeasuredLayerNorm();
  const std::string body = report::RenderPullRequest(e, MeasuredProvenance()).body;
  EXPECT_EQ(body.find("all cases are compared in full"), std::string::npos);
  EXPECT_EQ(body.find("smaller sizes of it were"), std::string::npos);
  EXPECT_EQ(Count(body, "no run told which lines it ran"), 2u);
  for (const report::CheckRow& check : e.check_table)
    for (const std::string& review : e.review)
      EXPECT_TRUE(check.ran || !review.starts_with(check.name + ":")) << review;
}

// A version that a repair mended was not rejected; and a refusal says what was refused.
// A chart with "1.02e+03" is none on the page.
TEST(PullRequest, NumbersHaveNoExponent) {
  report::Explanation e = ModelledSoftmax();
  for (report::AttemptRow& attempt : e.attempts)
    if (attempt.gain) *attempt.gain *= 123;
  e.gain *= 123;
  for (report::CaseRow& row : e.cases) row.after_us /= 123;
  const std::string body = report::RenderPullRequest(e, {}).body;
  ASSERT_NE(body.find("xychart-beta"), std::string::npos) << body;
  EXPECT_NE(body.find("**12,010x faster**"), std::string::npos) << body;
  EXPECT_FALSE(std::regex_search(body, std::regex("[0-9]e[+][0-9]"))) << body;
}

TEST(PullRequest, TheFlowchartSaysWhatWasRejectedAndWhy) {
  report::Explanation e = MeasuredLayerNorm();
  const auto boxes = [&] { return report::RenderPullRequest(e, {}).body; };
  EXPECT_NE(boxes().find("round 2: shared_memory_tiling<br>1.47x\"]"), std::string::npos) << boxes();
  EXPECT_NE(boxes().find("rejected: it has approximate rsqrt<br>vectorize_row_access<br>does not apply\"]"),
            std::string::npos)
      << boxes();
  e.attempts[4].method = "shared_memory_tiling (repair 2)";
  report::AttemptRow failed = e.attempts[3];
  failed.method = "shared_memory_tiling (repair 1)";
  e.attempts.insert(e.attempts.begin() + 4, failed);
  EXPECT_NE(boxes().find("round 2: shared_memory_tiling<br>1.47x\"]"), std::string::npos) << boxes();
  failed.method = "shared_memory_tiling";
  e.attempts.insert(e.attempts.begin() + 3, failed);
  EXPECT_NE(boxes().find("<br>1.47x, rejected: wrong result\"]"), std::string::npos) << boxes();
}

// Of what does not apply there is often much, and settings are long.
TEST(PullRequest, TheBoxesOfTheFlowchartAreNarrowAndShort) {
  report::Explanation e = MeasuredLayerNorm();
  report::AttemptRow none = e.attempts.back();
  for (const char* method : {"tile_matmul", "histogram_privatize", "async_copies", "tile_matmul"}) {
    none.method = method;
    none.round = report::kNoRound;
    e.attempts.insert(e.attempts.begin(), none);
  }
  none.method = "row_parallel";  // one of the settings of a method that applies
  none.round = 1;
  e.attempts.insert(e.attempts.begin() + 5, none);
  e.attempts[6].parameters = "mode=warp, rows_per_block=8, threads=256, stages=3, width=4";
  const std::string body = report::RenderPullRequest(e, {}).body;
  const size_t begin = body.find("flowchart TD"), end = body.find("```", begin);
  const std::string chart = body.substr(begin, end - begin);
  EXPECT_NE(chart.find("<br>3 methods do not apply\"]"), std::string::npos) << chart;
  EXPECT_EQ(chart.find("tile_matmul"), std::string::npos) << chart;
  EXPECT_NE(chart.find("<br>mode=warp, rows_per_block=8,<br>threads=256, stages=3, width=4<br>"), std::string::npos)
      << chart;
  EXPECT_NE(chart.find("<br>2 other settings tried"), std::string::npos) << "one did not apply: " << chart;
  const std::regex box("\\[\"([^\"]*)\"\\]");
  for (auto at = std::sregex_iterator(chart.begin(), chart.end(), box); at != std::sregex_iterator(); ++at) {
    const std::string label = std::regex_replace((*at)[1].str(), std::regex("<br>"), "\n");
    std::istringstream lines(label);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(base::CodePoints(line), 45u) << line;
  }
}

TEST(PullRequest, SlowerAndUnchangedRowsStay) {
  const std::string body = Spaces(report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance()).body);
  EXPECT_NE(body.find("| single row | 19.6 → 20.4 µs | **0.96x (0.95 to 0.98), slower** | bit-identical |"),
            std::string::npos);
  EXPECT_NE(body.find("1.01x (0.99 to 1.03), same | – |"), std::string::npos);
  EXPECT_NE(body.find("2.4e-07 / 9.5e-07"), std::string::npos);
  // If there are too many rows, the slower ones are never omitted.
  report::Explanation e = MeasuredLayerNorm();
  for (int i = 0; i < 200; ++i) e.cases.insert(e.cases.begin(), e.cases[0]);
  const std::string many = report::RenderPullRequest(e, MeasuredProvenance()).body;
  EXPECT_NE(many.find("slower**"), std::string::npos);
  EXPECT_NE(many.find("more shapes are left out"), std::string::npos);
}

TEST(PullRequest, SaysWhatToLookAt) {
  const std::string body = report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance()).body;
  for (const char* part :
       {"**Lines** 4–36, 38–93, 98–99 of `src/layernorm.cu`", "Not bit-identical", "Relaxed by the manifest",
        "From now on", "For the reviewer", "chips other than H200", "Not tested**: special-values"})
    EXPECT_NE(body.find(part), std::string::npos) << part;
  const std::string modelled = report::RenderPullRequest(ModelledSoftmax(), SampleProvenance()).body;
  EXPECT_NE(modelled.find("and no real GPU"), std::string::npos);
  EXPECT_NE(modelled.find("inp must not overlap"), std::string::npos);
}

TEST(PullRequest, HugeBodiesAreCutInOrderAndSaySo) {
  const std::string body = report::RenderPullRequest(HugeExplanation(), MeasuredProvenance()).body;
  EXPECT_LE(base::CodePoints(body), report::kMaxBodyCharacters);
  EXPECT_GT(base::CodePoints(body), report::kMaxBodyCharacters / 3) << "more was cut than had to be";
  EXPECT_NE(body.find("left out to keep this page readable"), std::string::npos);
  EXPECT_EQ(Count(body, "```") % 2, 0u);
  EXPECT_EQ(Count(body, "<details>"), Count(body, "</details>"));
  EXPECT_TRUE(report::ParseBody(body));  // state and controls are never cut
  // The diagrams and the reasons outlive the trajectory.
  EXPECT_NE(body.find("flowchart TD"), std::string::npos);
  EXPECT_NE(body.find("### Why it is faster"), std::string::npos);
}

TEST(PullRequest, NothingUntrustedIsActive) {
  report::Explanation e = HugeExplanation();
  e.kernel = "k@octocat|<b>--><!-- x";
  e.file = "a b/`$(reboot)`.cu";
  const std::string body = report::RenderPullRequest(e, MeasuredProvenance()).body;
  EXPECT_EQ(body.find("@octocat."), std::string::npos);
  EXPECT_EQ(body.find("closes #12"), std::string::npos);
  EXPECT_NE(body.find("closes \\#&#8203;12, thanks to @&#8203;octocat"), std::string::npos);
  EXPECT_NE(body.find("-- 'a b/`$(reboot)`.cu' &&"), std::string::npos);
  ASSERT_TRUE(report::ParseBody(body));
  EXPECT_EQ(report::ParseBody(body)->kernel, e.kernel);
}

TEST(BodyState, IsReadBack) {
  const std::string body = report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance()).body;
  const auto state = report::ParseBody(body);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->kernel, "layernorm");
  EXPECT_EQ(state->base_commit, "0123456789abcdef0123456789abcdef01234567");
  EXPECT_EQ(state->candidate, "d19d02ddb93b77de85538c7e44e1088b1338121f");
  EXPECT_EQ(state->run_id, "1f2e3d4c5b6a7988");
  EXPECT_FALSE(state->retry);
  EXPECT_FALSE(state->ignore);
}

TEST(BodyState, TicksAreSeenWhereTheyCount) {
  const std::string body = report::RenderPullRequest(MeasuredLayerNorm(), MeasuredProvenance()).body;
  const auto with = [&](const std::string& from, const std::string& to) {
    return std::regex_replace(body, std::regex(from), to);
  };
  const auto retry = report::ParseBody(with("- \\[ \\] <!-- warpwright:retry", "- [x] <!-- warpwright:retry"));
  EXPECT_TRUE(retry->retry && !retry->ignore);
  const auto ignore = report::ParseBody(with("- \\[ \\] <!-- warpwright:ignore", "* [X] <!-- warpwright:ignore"));
  EXPECT_TRUE(!ignore->retry && ignore->ignore);
  std::string windows = with("\n", "\r\n");  // as GitHub's editor saves it
  ASSERT_TRUE(report::ParseBody(windows));
  EXPECT_EQ(report::ParseBody(windows)->run_id, "1f2e3d4c5b6a7988");
  // A box above the marker, for example in a log, is not a user's request.
  EXPECT_FALSE(report::ParseBody(with("### What to review", "- [x] <!-- warpwright:ignore -->\n### What"))->ignore);
}

TEST(BodyState, OtherBodiesAreNotOurs) {
  for (const char* body :
       {"", "hello", "<!-- warpwright:v1", "<!-- warpwright:v1 -->", "<!-- warpwright:v1 kernel=%zz -->",
        "<!-- warpwright:v1 base=1 -->", "x\n<!-- warpwright:v1 kernel=a -->", "<!-- warpwright:v1 kernel -->"})
    EXPECT_FALSE(report::ParseBody(body)) << body;
  EXPECT_TRUE(report::ParseBody("<!-- warpwright:v1 kernel=a later=field -->\n"));
}

TEST(Check, SaysWhatCameOfIt) {
  const report::CheckText improved = report::RenderCheck(MeasuredLayerNorm(), MeasuredProvenance());
  EXPECT_EQ(improved.title.rfind("1.64x faster on H200 (", 0), 0u) << improved.title;
  EXPECT_NE(improved.summary.find("| gpt2 |"), std::string::npos);
  const report::CheckText unchanged = report::RenderCheck(UnchangedLayerNorm(), {});
  EXPECT_EQ(unchanged.title, "no improvement found");
  EXPECT_EQ(
      unchanged.summary,
      "`layernorm` is unchanged after 4 rounds, 8 attempts (7 evaluated): no improvement found in 4 rounds (the "
      "best candidate gave 1.02x; the policy asks for 1.05x). The best verified attempt, restrict\\_readonly, was "
      "1.02x as fast as the original (measured on NVIDIA H200).\n");
  EXPECT_NE(unchanged.text.find("out-of-bounds write"), std::string::npos);
  for (const auto& [outcome, title] : {std::pair{core::TaskOutcome::kRefused, "not optimized"},
                                       {core::TaskOutcome::kError, "warpwright failed"},
                                       {core::TaskOutcome::kUnfinished, "not finished"}}) {
    report::Explanation e = UnchangedLayerNorm();
    e.outcome = outcome;
    e.remedy = "make another function the entry";
    EXPECT_EQ(report::RenderCheck(e, {}).title, title) << Name(outcome);
    EXPECT_EQ(report::RenderCheck(e, {}).summary.find("says nothing about the kernel") != std::string::npos,
              outcome == core::TaskOutcome::kError);
    EXPECT_NE(report::RenderCheck(e, {}).summary.find("\n\n**Remedy:** make another function the entry.\n"),
              std::string::npos);
    EXPECT_EQ(report::RenderCheck(e, {}).summary.find("faster**"), std::string::npos);
  }
  report::Explanation modelled = ModelledSoftmax();
  EXPECT_NE(report::RenderCheck(modelled, {}).title.find("modelled"), std::string::npos);
}

TEST(Check, NotesStandOnLinesOfTheOriginal) {
  const report::CheckText check = report::RenderCheck(UnchangedLayerNorm(), {});
  ASSERT_EQ(check.notes.size(), 4u);  // two hot lines, two refusals with a line
  EXPECT_EQ(check.notes[0].line, 31);
  EXPECT_EQ(check.notes[0].title, "44 % of the samples, mostly waiting for global memory");
  EXPECT_EQ(check.notes[2].line, 41);
  EXPECT_EQ(check.notes[3].line, 29);
  EXPECT_EQ(check.notes[3].title, "vectorize_row_access does not apply");
  report::Explanation later = UnchangedLayerNorm();
  for (auto& attempt : later.attempts) attempt.parent = "bbbbbbbbbb";  // lines of another text
  EXPECT_EQ(report::RenderCheck(later, {}).notes.size(), 2u);
}

TEST(DiffSummary, CountsAndPlacesLines) {
  const report::DiffSummary summary = report::SummarizeDiff(
      "diff --git a/k.cu b/k.cu\n--- a/k.cu\n+++ b/k.cu\n@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n@@ -20,2 +21,1 @@ f\n "
      "g\n-h\n\\ No newline at end of file\n");
  EXPECT_EQ(summary.added, 2);
  EXPECT_EQ(summary.removed, 2);
  ASSERT_EQ(summary.changed.size(), 2u);
  EXPECT_EQ(summary.changed[0].first, 2);
  EXPECT_EQ(summary.changed[0].last, 3);
  EXPECT_EQ(summary.changed[1].first, 22);
  for (const char* bad : {"", "@@", "@@ -x +y @@\n+a\n", "+++\n", "not a diff"})
    EXPECT_TRUE(report::SummarizeDiff(bad).changed.empty()) << bad;
}

}  // namespace
}  // namespace warpwright
