#include "nights/history_page.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "nights/history_plot.h"
#include "tests/support/golden.h"

namespace warpwright {
namespace {

std::string NightAt(int day) {
  return base::FormatUtc(std::chrono::system_clock::from_time_t(1'767'234'600 + int64_t{day} * 86400));
}

// A made-up history on two machines: a commit that costs 12 % and is reverted, a driver that costs 5 %, and an open
// one.
nights::EntryHistory Sample() {
  nights::EntryHistory entry{"softmax", "kernels/softmax.cu", {}};
  nights::History& history = entry.history;
  const base::CounterRandom random(7, 7);
  uint64_t draw = 0;
  const auto noise = [&](double size) {
    draw += 3;
    return size * (random.Uniform(draw) + random.Uniform(draw + 1) + random.Uniform(draw + 2) - 1.5);
  };
  for (int day = 0; day < 90; ++day) {
    nights::HistoryKey key{.device = "GPU-2c24a1f0-77",
                           .chip = "NVIDIA H200",
                           .driver = day < 52 ? "575.51.03" : "580.159.04",
                           .toolkit = day < 70 ? "NVRTC 12.9" : "NVRTC 13.0",
                           .protocol = "paired-1"};
    const bool slow = (day >= 24 && day < 33) || day >= 80;
    const std::string commit(40, slow ? 'c' : day < 24 ? 'a' : 'e');
    for (const auto& [name, us] : {std::pair<const char*, double>("N=8192,C=50257", 1234.5), {"N=37,C=130", 4.21}}) {
      nights::CaseTime time{.time = NightAt(day),
                            .kernel = "softmax",
                            .key = key,
                            .commit = commit,
                            .slice = std::string(64, slow ? 'c' : 'a'),
                            .case_name = name,
                            .log_error = 0.0015,
                            .samples = 60,
                            .mhz = 1980};
      time.log_mean = std::log(us) + noise(0.006) + (slow ? std::log(1.12) : 0) + (day >= 52 ? std::log(1.05) : 0);
      time.median_us = std::exp(time.log_mean);
      history.cases.push_back(time);
    }
    nights::NightVerdict night;
    night.time = NightAt(day);
    night.kernel = "softmax";
    night.key = key;
    night.commit = commit;
    night.state = slow        ? nights::NightState::kSlower
                  : day == 53 ? nights::NightState::kDrift
                              : nights::NightState::kSame;
    night.message = slow ? "12.0 % more time than revision aaaaaaaaaaaa" : "as fast as revision aaaaaaaaaaaa";
    night.log_ratio = slow ? std::log(1.12) : 0;
    history.nights.push_back(night);
  }
  nights::Finding code;
  code.kernel = "softmax";
  code.key = history.cases.front().key;
  code.id = "1";
  code.cause = nights::Cause::kCode;
  code.time = NightAt(24);
  code.state = nights::FindingState::kOpen;
  code.commit = "84f4d2e0c0ffee";
  code.subject = "Keep the row maximum in <shared> memory & more";
  code.log_ratio = std::log(1.12);
  code.confirmed = true;
  code.message = "12.0 % more time than revision aaaaaaaaaaaa (11.8 to 12.3 %), since commit 84f4d2e0c0ff";
  history.findings.push_back(code);
  code.time = NightAt(33);
  code.state = nights::FindingState::kRecovered;
  history.findings.push_back(code);
  nights::Finding driver = code;
  driver.id = "2";
  driver.cause = nights::Cause::kDriver;
  driver.state = nights::FindingState::kOpen;
  driver.time = NightAt(53);
  driver.commit.clear();
  driver.case_name = "N=8192,C=50257";
  driver.log_ratio = std::log(1.05);
  driver.message =
      "case N=8192,C=50257 takes 5.0 % more time than its level of 30 nights, since driver 575.51.03 → driver "
      "580.159.04; the code is the same";
  history.findings.push_back(driver);
  code.id = "3";
  code.time = NightAt(80);
  code.state = nights::FindingState::kOpen;
  code.subject = "One more <script>alert(1)</script>";
  history.findings.push_back(code);
  for (int day = 60; day < 63; ++day) {
    nights::CaseTime time = history.cases.front();
    time.time = NightAt(day);
    time.key = {"sim:h200", "NVIDIA H200", "", "NVRTC 13.0", "model-1 0.1.0"};
    time.modelled = true;
    time.log_error = 0;
    time.median_us = day == 60 ? 980 : 1020;
    history.cases.push_back(time);
  }
  return entry;
}

TEST(HistoryPage, LooksAsItWasReviewed) {
  const nights::EntryHistory entry = Sample();
  ExpectGolden("nights.html", nights::RenderHistoryHtml(entry));
  ExpectGolden("nights.svg", nights::RenderHistorySvg(entry));
}

TEST(HistoryPage, PanelsAreByMachineAndCase) {
  const auto panels = nights::PanelsOf(Sample().history);
  ASSERT_EQ(panels.size(), 3u);
  EXPECT_EQ(panels[0].nights.size(), 90u);
  EXPECT_EQ(panels[0].changes.size(), 5u);  // three code changes, driver, toolkit
  EXPECT_EQ(panels[0].regressions.size(), 3u);
  EXPECT_EQ(panels[1].regressions.size(), 2u);  // the driver's is of the other case
  EXPECT_NE(panels[0].regressions[0].to, 0);
  EXPECT_EQ(panels[0].regressions[1].to, 0);
  EXPECT_TRUE(panels[2].modelled);
  EXPECT_TRUE(panels[2].regressions.empty());
}

TEST(HistoryPage, NothingOfTheRepositoryBecomesMarkup) {
  nights::EntryHistory entry = Sample();
  for (auto& time : entry.history.cases) time.case_name = "<img src=x onerror=alert(1)>\"'";
  for (auto& night : entry.history.nights) night.message = "</td><script>";
  for (auto& finding : entry.history.findings)
    finding.subject = finding.message = finding.commit = "<script>\"</title>";
  entry.file = "</p><script>";
  for (const std::string& text :
       {nights::RenderHistoryHtml(entry), nights::RenderHistorySvg(entry), nights::RenderHistoryIndex({entry})}) {
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_EQ(text.find("<img"), std::string::npos);
  }
}

TEST(HistoryPage, FewAndOddNights) {
  nights::EntryHistory entry{"k", "k.cu", {}};
  EXPECT_TRUE(nights::RenderHistorySvg(entry).empty());
  EXPECT_NE(nights::RenderHistoryHtml(entry).find("No nightly run has timed it yet"), std::string::npos);
  entry.history.cases = {Sample().history.cases.front()};
  EXPECT_EQ(nights::RenderHistorySvg(entry).find("nan"), std::string::npos);
  nights::CaseTime wild = entry.history.cases.front();
  for (const double us : {1e-9, 1e12, 0.0}) {
    wild.median_us = us;
    wild.log_error = 30;
    entry.history.cases.push_back(wild);
  }
  const std::string svg = nights::RenderHistorySvg(entry);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_LT(svg.size(), 100'000u);
}

TEST(HistoryPage, FilesAreNamedByTheEntryAndNothingElse) {
  const auto folder = base::TemporaryDirectory::Create("ww-pages");
  ASSERT_TRUE(folder);
  nights::EntryHistory entry = Sample();
  ASSERT_TRUE(nights::WriteHistoryPages({entry, {"other", "o.cu", {}}}, folder->path() / "pages"));
  for (const char* name : {"index.html", "softmax.html", "softmax.svg", "other.html"})
    EXPECT_TRUE(std::filesystem::exists(folder->path() / "pages" / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "pages/other.svg"));
  for (const char* name : {"../x", "a/b", ".hidden", ""})
    EXPECT_FALSE(nights::WriteHistoryPages({{name, "x.cu", {}}}, folder->path())) << name;
}

}  // namespace
}  // namespace warpwright
