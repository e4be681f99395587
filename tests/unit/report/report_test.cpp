#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "base/utf8.h"
#include "report/explanation.h"
#include "report/format.h"
#include "report/job_summary.h"
#include "report/markdown.h"
#include "report/plots.h"
#include "report/pull_request.h"
#include "report/pull_request_status.h"
#include "tests/support/computation_samples.h"
#include "tests/support/golden.h"

namespace warpwright {
namespace {

report::Explanation Sample() {
  report::Explanation e;
  e.kernel = "softmax";
  e.file = "src/softmax.cu";
  e.entry = "softmax_forward";
  e.device = "sim:h200";
  e.chip_name = "NVIDIA H200";
  e.outcome = core::TaskOutcome::kImproved;
  e.gain = 6.25;
  e.roofline_share_before = 0.1;
  e.roofline_share_after = 0.625;
  e.cases = {{"vocabulary", 1000, 160, true}, {"odd", 12.5, 2, false}};
  e.before_us = 1000;
  e.after_us = 160;
  e.steps = {{.method = "row_parallel",
              .parameters = "mode=block",
              .does = "one block per row",
              .gain_before = 1,
              .gain_after = 6.25,
              .causes = {"A load touched 32 sectors, and touches 4 sectors now."},
              .counters = {{"load_sectors_per_request", 32, 4, report::CounterMove::kBetter},
                           {"dram_read_bytes", 3.2e9, 0, report::CounterMove::kBetter}},
              .predicted = 2,
              .held = 2}};
  e.plans = {"round 1, row_parallel: a thread walks a row [1]. [1] one_thread_per_row = yes"};
  e.attempts = {{1, "bbbbbbbbbb", "aaaaaaaaaa", "row_parallel", "mode=block", report::AttemptOutcome::kMeasured,
                 "one block per row", 6.25, true},
                {1, "cccccccccc", "aaaaaaaaaa", "row_parallel", "mode=warp", report::AttemptOutcome::kWrongResult,
                 "out[3] = <b>1</b>, expected `2`|@octocat", std::nullopt, false},
                {2, "", "bbbbbbbbbb", "unroll_accumulators", "factor=4", report::AttemptOutcome::kNotApplicable,
                 "no serial loop (line 12)", std::nullopt, false}};
  e.predictions = {{"load_sectors_per_request", -1, 32, 4, true}};
  e.checks = {"comparison", "secret-seed"};
  e.reproduce = {"git checkout 0123456789ab", "warpwright verify --kernel softmax --device sim:h200"};
  e.base_commit = "0123456789abcdef0123456789abcdef01234567";
  e.original_hash = "aaaaaaaaaaaa";
  e.result_hash = "bbbbbbbbbbbb";
  e.version = "0.1.0";
  e.toolchain = "NVRTC 13.0";
  e.counts.rounds = 2;
  e.counts.attempts = 3;
  e.counts.evaluations = 2;
  e.seconds = 3.5;
  core::Computation softmax = testing::Softmax();
  softmax.assumptions = {"C = 7"};
  e.computes = report::FormulaOf(core::Lifted{.computation = softmax, .shapes = 3, .verified = true});
  e.point_before = {0.2, 100};
  e.point_after = {1.5, 900};
  e.peak_gflops = 66900;
  e.peak_gbytes = 4300;
  return e;
}

TEST(Report, MarkdownIsGolden) { ExpectGolden("softmax.md", report::RenderMarkdown(Sample())); }
TEST(Report, CommitMessageIsGolden) { ExpectGolden("softmax.commit.txt", report::RenderCommitMessage(Sample())); }
TEST(Report, TextIsGolden) { ExpectGolden("softmax.txt", report::RenderText(Sample())); }
TEST(Report, HtmlIsGolden) { ExpectGolden("softmax.html", report::RenderHtml(Sample())); }

TEST(Report, TheTitleIsTheSameEverywhere) {
  const report::Explanation e = Sample();
  const std::string title = "6.25x faster, modelled, on H200 (1.00 ms → 160 µs)";
  const auto said = [&](const std::string& text) {
    return text.find(title) != text.npos || text.find(report::KeepUnits(title)) != text.npos;
  };
  for (const std::string& text :
       {report::RenderText(e), report::RenderMarkdown(e), report::RenderHtml(e), report::RenderCommitMessage(e),
        report::RenderPullRequest(e, {}).title, report::RenderCheck(e, {}).title})
    EXPECT_TRUE(said(text)) << text;
  EXPECT_EQ(report::RenderCommitMessage(e).find("->"), std::string::npos);
}

TEST(Report, ModelledGainsSaySoWhereverTheyStand) {
  const report::Explanation e = Sample();
  EXPECT_EQ(report::DevicePhrase(e), "modelled on H200 (simulated)");
  const std::string message = report::RenderCommitMessage(e);
  EXPECT_EQ(message.substr(0, message.find('\n')), "perf(softmax): 6.25x faster, modelled, on H200 (1.00 ms → 160 µs)");
  for (const auto& text : {message, report::RenderMarkdown(e), report::RenderHtml(e)})
    EXPECT_NE(text.find("modelled on H200 (simulated)"), std::string::npos);
}

TEST(Report, CommitMessagesAreWrapped) {
  report::Explanation e = Sample();
  e.kernel = std::string(60, 'k');
  std::istringstream lines(report::RenderCommitMessage(e));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_LE(base::CodePoints(line), 72u);
  EXPECT_NE(report::RenderCommitMessage(e).find("Optimized-by: warpwright"), std::string::npos);
}

// A terminal shows what is written: nothing is escaped, no fact is cited by a number.
TEST(Report, TextHasNoMarkup) {
  report::Explanation e = Sample();
  e.steps[0].method = "row_parallel\x1b[31m";
  const std::string text = report::RenderText(e);
  for (const char* markup : {"**", "\\_", "&#8203;", "| ", "```", "[1]", "##", "\x1b"})
    EXPECT_EQ(text.find(markup), std::string::npos) << markup;
  EXPECT_NE(text.find("round 1, row_parallel: a thread walks a row (one thread per row: yes)"), std::string::npos)
      << text;
}

TEST(Report, TextFitsTheTerminal) {
  for (const size_t columns : {60u, 80u, 120u}) {
    const std::string text = report::RenderText(Sample(), columns);
    std::istringstream lines(text.substr(text.find("Why it is faster")));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(base::CodePoints(line), columns) << line;
  }
}

std::string OnOneLine(const std::string& text) {
  std::istringstream words(text);
  std::string out, word;
  while (words >> word) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(Report, AStepWhoseCountersDoNotExplainItIsNoCause) {
  report::Explanation e = Sample();
  e.steps[0].causes.clear();
  const struct {
    int predicted, held;
    const char* words;
  } rows[] = {
      {5, 2, "Its cause is not known: of 5 expected changes of counters that would explain it, 2 came true."},
      {3, 3, "Its counters moved as expected (3 of 3), but its card names no cause that they show."},
      {3, 2, "Its counters moved as expected (2 of 3), but its card names no cause that they show."},
      {0, 0, "No counter that would explain it was counted, so its cause is not known."},
  };
  for (const auto& row : rows) {
    e.steps[0].predicted = row.predicted;
    e.steps[0].held = row.held;
    for (const std::string& text : {report::RenderText(e), report::RenderMarkdown(e), report::RenderHtml(e),
                                    report::RenderPullRequest(e, {}).body})
      EXPECT_NE(OnOneLine(text).find(row.words), std::string::npos) << text;
  }
}

// All settings of a method are described alike; what follows them is not.
TEST(Report, AnAttemptIsDescribedOnce) {
  report::Explanation e = Sample();
  e.attempts.insert(e.attempts.begin() + 1, e.attempts[0]);
  for (size_t i = 0; i < 2; ++i) {
    e.attempts[i].message = "gives every row to a block";
    e.attempts[i].accepted = false;
    e.attempts[i].gain.reset();  // in plain text only what failed is described
  }
  for (const std::string& text : {report::RenderText(e), report::RenderMarkdown(e)}) {
    const size_t first = text.find(e.attempts[0].message), again = text.find("as above");
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_TRUE(first < again && again != std::string::npos) << text;
    EXPECT_EQ(text.find(e.attempts[0].message, first + 1), std::string::npos) << text;
  }
}

// In words, without numbers, and once where one plan after the other cites the same.
TEST(Report, FactsOfAPlanFollowItsReason) {
  report::Explanation e;
  e.plans = {
      "round 1, a: rows are long [1], and few [2]. [1] load_reuse = 3; [2] dram_read_bytes = 4 MB; [3] x = 5",
      "round 1, b: the same [1]. [1] load_reuse = 3; [2] dram_read_bytes = 4 MB",
      "from experience, a: kernels of this kind [1] [1] a gave 2.5x",
      "round 2, c: headroom [1]. [1] 62.5 % of the roofline; [2] formula_known = yes, headroom = 1.6 (above 1.1)",
      "round 3, a: no reason"};
  EXPECT_EQ(report::PlanLines(e),
            (std::vector<std::string>{
                "round 1, a: rows are long, and few (load reuse: 3; DRAM read bytes: 4 MB)", "round 1, b: the same",
                "from experience, a: kernels of this kind (a gave 2.5x)",
                "round 2, c: headroom (62.5 % of the roofline; formula known: yes, headroom: 1.6 (above 1.1))",
                "round 3, a: no reason"}));
}

// As where every method of a round is tried for one cause.
TEST(Report, ADiagnosisIsSaidOnceForPlansThatShareIt) {
  report::Explanation e;
  e.plans = {"round 1, a: It is far from the roofline: Walk rows [1]. [1] load_reuse = 3",
             "round 1, b: It is far from the roofline: Walk tiles", "round 2, c: Loads are narrow: Widen them",
             "round 3, a: It is far from the roofline: Walk rows"};
  EXPECT_EQ(report::PlanLines(e),
            (std::vector<std::string>{"round 1, a: It is far from the roofline: Walk rows (load reuse: 3)",
                                      "round 1, b: Walk tiles", "round 2, c: Loads are narrow: Widen them",
                                      "round 3, a: It is far from the roofline: Walk rows"}));
}

// What stands in a table on one page does on the other; notes stand below, where a phone has room for them.
TEST(Report, PagesAndBodiesHaveTheSameTables) {
  report::Explanation e = Sample();
  e.cases.back().weight = 0;
  const std::string page = report::RenderHtml(e), body = report::RenderMarkdown(e);
  for (const char* part : {"speedup, modelled", " ¹", "¹\u00a0counted on a part of its blocks, and scaled up",
                           "²\u00a0checked, but not part of the gain", "counter (simulated)"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
    EXPECT_NE(body.find(part), std::string::npos) << part;
  }
}

TEST(Report, FieldsAreWordsWithoutTheirUnit) {
  for (const auto& [field, words] :
       {std::pair("load_sectors_per_request", "load sectors per request"), std::pair("kernel_time_us", "kernel time"),
        std::pair("l2_hit_pct", "L2 hit"), std::pair("latency_pct", "exposed latency"), std::pair("_us", "")})
    EXPECT_EQ(report::FieldWords(field), words);
}

TEST(Report, RunningTextIsWrappedAndIndented) {
  EXPECT_EQ(report::Wrap("one two three", 9, "- ", "  "), "- one two\n  three\n");
  EXPECT_EQ(report::Wrap("a-word-that-is-longer b", 5, "", ""), "a-word-that-is-longer\nb\n");
  EXPECT_EQ(report::Wrap("µµµ µ", 5, "", ""), "µµµ µ\n") << "columns, not bytes";
  EXPECT_EQ(report::Wrap("", 5, "  ", ""), "  \n");
}

// The steps of a search that found too little are not why anything is faster.
TEST(Report, NothingFoundIsSaid) {
  report::Explanation e = Sample();
  e.outcome_reason = "no improvement found in 3 rounds";
  e.cases.clear();
  for (const core::TaskOutcome outcome :
       {core::TaskOutcome::kUnchanged, core::TaskOutcome::kRefused, core::TaskOutcome::kUnfinished}) {
    e.outcome = outcome;
    for (const std::string& text : {report::RenderText(e), report::RenderMarkdown(e), report::RenderHtml(e)}) {
      EXPECT_NE(text.find("no improvement found"), std::string::npos) << text;
      EXPECT_EQ(text.find("faster"), std::string::npos) << text;
      EXPECT_NE(text.find("The best that was tried, not proposed"), std::string::npos) << text;
    }
  }
  e.steps.clear();
  for (const std::string& text : {report::RenderText(e), report::RenderMarkdown(e), report::RenderHtml(e)})
    EXPECT_EQ(text.find("The best that was tried"), std::string::npos) << text;
}

// What a forge or its checks would act on, in a message with untrusted text.
TEST(Report, CommitMessagesAreInactive) {
  report::Explanation e = Sample();
  e.steps = {
      {.method = "row_parallel",
       .parameters = "",
       .does = "[skip ci] fixes #12, GH-3, thanks @octocat, https://github.com/o/r/issues/1\nOptimized-by: evil"}};
  e.kernel = "k\nCo-authored-by: x";
  e.run_id = "1f2e";
  e.base_blob = "abcd";
  const std::string message = report::RenderCommitMessage(e);
  for (const char* active : {"[skip ci]", "#12", "GH-3", "@octocat", "://", "\nOptimized-by: evil", "\nCo-authored-by"})
    EXPECT_EQ(message.find(active), std::string::npos) << active;
  EXPECT_TRUE(
      message.ends_with("\nKernel-Id: k_Co-authored-by:_x\nBase-Blob: abcd\nBase-commit: "
                        "0123456789abcdef0123456789abcdef01234567\nRun-Id: 1f2e\nOptimized-by: warpwright\n"))
      << message;
}

TEST(Report, AFormulaThatIsNotKnownIsOneLineOfPages) {
  report::Explanation e = Sample();
  e.computes = report::FormulaOf(core::NotLifted{"branch on data", "a <b> of @octocat", true});
  const std::string markdown = report::RenderMarkdown(e), html = report::RenderHtml(e);
  EXPECT_NE(markdown.find("What it computes was not found out: branch on data: a"), std::string::npos) << markdown;
  EXPECT_NE(html.find("What it computes was not found out: branch on data: a &lt;b&gt;"), std::string::npos) << html;
  for (const std::string& text : {markdown, html}) {
    EXPECT_EQ(text.find("<b>"), std::string::npos);
    EXPECT_EQ(text.find("\n## What it computes"), std::string::npos);
  }
  EXPECT_EQ(markdown.find("@octocat"), std::string::npos);
  EXPECT_EQ(report::RenderCommitMessage(e).find("What it computes"), std::string::npos);
  e.computes.reset();
  for (const std::string& text : {report::RenderMarkdown(e), report::RenderHtml(e), report::RenderCommitMessage(e)})
    EXPECT_EQ(text.find("What it computes"), std::string::npos);
}

TEST(Plots, AreClosedAndEscaped) {
  report::Explanation e = Sample();
  e.attempts[1].method = "<script>";
  for (const auto& svg : {report::GainPlot(e), report::RooflinePlot(e), report::AttemptTree(e)}) {
    EXPECT_EQ(svg.rfind("<svg", 0), 0u);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
  e.point_after.reset();
  EXPECT_EQ(report::RooflinePlot(e), "");
}

// The boxes of a drawing's labels, but for the turned ones, as wide as their characters are at most.
struct LabelBox {
  std::string text;
  double left, right, top, bottom;
};
std::vector<LabelBox> LabelsOf(const std::string& svg) {
  std::vector<LabelBox> boxes;
  const std::regex label("<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" text-anchor=\"([a-z]+)\"[^>]*>([^<]*)</text>");
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), label); at != std::sregex_iterator(); ++at) {
    const double x = std::stod((*at)[1]), y = std::stod((*at)[2]);
    const double width = 7.6 * static_cast<double>(base::CodePoints((*at)[4].str()));
    const double left = (*at)[3] == "middle" ? x - width / 2 : (*at)[3] == "end" ? x - width : x;
    boxes.push_back({(*at)[4], left, left + width, y - 10, y + 3});
  }
  return boxes;
}

TEST(Plots, LabelsDoNotOverlap) {
  report::Explanation e = Sample();
  e.attempts.clear();
  for (int i = 0; i < 40; ++i) {
    report::AttemptRow attempt;
    attempt.round = i == 0 ? 0 : i == 1 ? report::kNoRound : 1 + i / 4;
    attempt.id = std::to_string(i);
    attempt.parent = i % 5 == 0 ? e.original_hash.substr(0, 10) : std::to_string(i - 1);
    attempt.method = "a_method_with_a_long_name";
    attempt.gain = 1 + 0.1 * i;
    e.attempts.push_back(attempt);
  }
  for (const double after : {0.02, 0.7, 1.0, 1.4, 50.0}) {
    e.point_before = {1.0, 500};
    e.point_after = {after, 510};
    for (const size_t attempts : {size_t{40}, size_t{9}, size_t{7}}) {
      e.attempts.resize(attempts);
      for (const auto& svg : {report::GainPlot(e), report::RooflinePlot(e), report::AttemptTree(e)}) {
        const auto boxes = LabelsOf(svg);
        EXPECT_GT(boxes.size(), 2u);
        for (size_t i = 0; i < boxes.size(); ++i)
          for (size_t k = 0; k < i; ++k)
            EXPECT_FALSE(boxes[i].left < boxes[k].right && boxes[k].left < boxes[i].right &&
                         boxes[i].top < boxes[k].bottom && boxes[k].top < boxes[i].bottom)
                << boxes[i].text << " on " << boxes[k].text << " at intensity " << after;
      }
    }
  }
}

// A tree whose parents form a cycle must still terminate.
TEST(Plots, TreesWithCirclesEnd) {
  report::Explanation e = Sample();
  e.attempts[0].parent = "bbbbbbbbbb";
  EXPECT_TRUE(report::AttemptTree(e).ends_with("</svg>\n"));
}

TEST(Report, ACommitMessageIsBoundedAndKeepsItsTrailers) {
  report::Explanation e = Sample();
  e.base_blob = "0123abc";
  for (int i = 0; i < 2000; ++i)
    e.steps.push_back({.method = "unroll", .parameters = "", .does = std::string(200, 'x')});
  const std::string message = report::RenderCommitMessage(e);
  EXPECT_LE(base::CodePoints(message), report::kMaxBodyCharacters);
  EXPECT_NE(message.find("This message was cut."), std::string::npos);
  for (const char* trailer : {"Kernel-Id:", "Base-Blob:", "Optimized-by: warpwright"})
    EXPECT_NE(message.find(trailer), std::string::npos) << trailer;
}

TEST(Report, WhatIsOutOfDateSaysSoAboveItsFigures) {
  const report::PullRequestText text = report::RenderPullRequest(Sample(), {});
  const std::string once = report::MarkOutdated(text.body, "a\n<b> @someone"),
                    twice = report::MarkOutdated(once, "another reason");
  EXPECT_TRUE(report::IsMarkedOutdated(once));
  EXPECT_FALSE(report::IsMarkedOutdated(text.body));
  EXPECT_EQ(once.find("@someone"), std::string::npos) << "nobody is called";
  EXPECT_LT(once.find("Out of date"), once.find(" faster"));
  EXPECT_LT(once.find("<details>"), once.find(" faster"));
  const auto before = report::ParseBody(text.body), after = report::ParseBody(twice);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->base_commit, before->base_commit);
  EXPECT_EQ(twice.find("someone"), std::string::npos) << "the warning is replaced";
  EXPECT_EQ(twice.find("What was found at the time"), twice.rfind("What was found at the time")) << "folded once";
  EXPECT_LT(twice.rfind("</details>"), twice.find("warpwright:controls")) << "the boxes stay outside";
  EXPECT_EQ(report::MarkOutdated("written by a person", "x"), "written by a person");
  EXPECT_EQ(report::OutdatedTitle("perf(softmax): 1.64x faster on H200"), "perf(softmax): out of date");
  EXPECT_EQ(report::OutdatedTitle("Our own title"), "Our own title");
}

TEST(Report, AFailureNamesItsPlaceAndItsRemedy) {
  const Error error{.code = ErrorCode::kConfig,
                    .message = "unknown key 'fil'",
                    .file = ".warpwright.yml",
                    .line = 3,
                    .remedy = "did you mean 'file'?"};
  EXPECT_EQ(report::FailureCommand(error),
            "::error file=.warpwright.yml,line=3,title=warpwright::unknown key 'fil'%0Aremedy: did you mean 'file'?\n");
  const std::string summary = report::RenderFailure(error);
  EXPECT_NE(summary.find("`.warpwright.yml:3`"), std::string::npos) << summary;
  EXPECT_NE(summary.find("**Remedy:** did you mean"), std::string::npos) << summary;
  EXPECT_EQ(report::FailureCommand({.code = ErrorCode::kEnvironment, .message = "no GPU\n::set-env"}),
            "::error title=warpwright::no GPU%0A::set-env\n");

  report::KernelSummary refused;
  refused.explanation = Sample();
  refused.explanation.file = "src/a.cu";
  refused.explanation.outcome = core::TaskOutcome::kRefused;
  refused.explanation.outcome_reason = "compile failed: src/a.cu:12: error: no";
  EXPECT_NE(report::RenderFailures({refused}).find("::error file=src/a.cu,line=12,"), std::string::npos)
      << report::RenderFailures({refused});
  refused.explanation.outcome_reason = "does not compile: src/a.cu(7): error: no";
  EXPECT_NE(report::RenderFailures({refused}).find("::error file=src/a.cu,line=7,"), std::string::npos)
      << report::RenderFailures({refused});
  refused.explanation.outcome_reason = "nothing says which line";
  EXPECT_NE(report::RenderFailures({refused}).find("::error file=src/a.cu,title="), std::string::npos);
}

}  // namespace
}  // namespace warpwright
