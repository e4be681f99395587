// How a run is sampled, with a fake CUPTI that knows only modules that were loaded while sampling was enabled.
#include <cstring>
#include <set>

#include "gpu/cupti_pc_sampling.h"
#include "tests/unit/gpu_counters/support.h"

namespace warpwright::gpu {
namespace {

struct FakeCupti {
  std::vector<std::string> calls;
  bool enabled = false, started = false;
  std::set<std::string> known;  // functions of modules that were loaded while enabled
  std::set<std::string> names;  // CUPTI's strings, which records share
  std::vector<std::pair<std::string, uint64_t>> ready, at_disable;  // function and offset of one sample each
  uint64_t foreign = 0;
  size_t per_read = 100;
  CUptiResult enable_result = CUPTI_SUCCESS, read_result = CUPTI_SUCCESS;
  CUpti_PCSamplingData* configured = nullptr;

  void Loads(const char* function) {
    if (enabled) known.insert(function);
  }
  void Runs(const char* function, uint64_t pc) {
    if (!started) return;
    if (known.count(function) != 0) ready.emplace_back(function, pc);
    else ++foreign;
  }
  // Writes as much as fits; three samples of stalls and one that counts some of them again.
  void Write(CUpti_PCSamplingData& data, std::vector<std::pair<std::string, uint64_t>>& records) {
    size_t i = 0;
    for (; i < records.size() && i < data.collectNumPcs && i < per_read; ++i) {
      CUpti_PCSamplingPCData& pc = data.pPcData[i];
      pc.functionName = const_cast<char*>(names.insert(records[i].first).first->c_str());
      pc.pcOffset = records[i].second;
      pc.stallReasonCount = 2;
      pc.stallReason[0] = {7, 3};
      pc.stallReason[1] = {9, 1};
    }
    records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(i));
    data.totalNumPcs = i;
    data.remainingNumPcs = records.size();
    data.totalSamples = 3 * i + foreign;
    data.nonUsrKernelsTotalSamples = foreign;
    foreign = 0;
  }
};
FakeCupti* fake = nullptr;

Cupti Functions() {
  Cupti cupti;
  cupti.GetResultString = [](CUptiResult, const char** text) { return *text = "FAKE", CUPTI_SUCCESS; };
  cupti.PCSamplingEnable = [](CUpti_PCSamplingEnableParams*) {
    fake->calls.emplace_back("enable");
    fake->enabled = fake->enable_result == CUPTI_SUCCESS;
    return fake->enable_result;
  };
  cupti.PCSamplingDisable = [](CUpti_PCSamplingDisableParams*) {
    fake->calls.emplace_back("disable");
    fake->enabled = false;
    if (fake->configured != nullptr) fake->Write(*fake->configured, fake->at_disable);
    return CUPTI_SUCCESS;
  };
  cupti.PCSamplingGetNumStallReasons = [](CUpti_PCSamplingGetNumStallReasonsParams* params) {
    return *params->numStallReasons = 2, CUPTI_SUCCESS;
  };
  cupti.PCSamplingGetStallReasons = [](CUpti_PCSamplingGetStallReasonsParams* params) {
    std::strcpy(params->stallReasons[0], "smsp__pcsamp_warps_issue_stalled_long_scoreboard");
    std::strcpy(params->stallReasons[1], "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued");
    params->stallReasonIndex[0] = 7;
    params->stallReasonIndex[1] = 9;
    return CUPTI_SUCCESS;
  };
  cupti.PCSamplingSetConfigurationAttribute = [](CUpti_PCSamplingConfigurationInfoParams* params) {
    fake->calls.emplace_back("configure");
    for (size_t i = 0; i < params->numAttributes; ++i) {
      const auto& info = params->pPCSamplingConfigurationInfo[i];
      if (info.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
        fake->configured =
            static_cast<CUpti_PCSamplingData*>(info.attributeData.samplingDataBufferData.samplingDataBuffer);
    }
    return CUPTI_SUCCESS;
  };
  cupti.PCSamplingStart = [](CUpti_PCSamplingStartParams*) {
    return fake->calls.emplace_back("start"), fake->started = true, CUPTI_SUCCESS;
  };
  cupti.PCSamplingStop = [](CUpti_PCSamplingStopParams*) {
    return fake->calls.emplace_back("stop"), fake->started = false, CUPTI_SUCCESS;
  };
  cupti.PCSamplingGetData = [](CUpti_PCSamplingGetDataParams* params) {
    fake->calls.emplace_back("read");
    fake->Write(*static_cast<CUpti_PCSamplingData*>(params->pcSamplingData), fake->ready);
    return fake->read_result;
  };
  return cupti;
}

class Sampler : public testing::Test {
 protected:
  Sampler() { fake = &fake_; }
  Result<PcSamples> Sample(const std::function<Status()>& load, const std::function<Status()>& run) {
    const auto noted = [&](const char* name, const std::function<Status()>& function) {
      return [&, name] { return fake_.calls.emplace_back(name), function(); };
    };
    return SamplePcs(cupti_, nullptr, {noted("load", load), noted("run", run), 100});
  }
  FakeCupti fake_;
  const Cupti cupti_ = Functions();
  const std::function<Status()> load_ = [&]() -> Status { return fake_.Loads("k"), Status{}; };
  const std::function<Status()> run_ = [&]() -> Status {
    return fake_.Runs("k", 0x10), fake_.Runs("k", 0x20), fake_.Runs("k", 0x10), Status{};
  };
};
using Calls = std::vector<std::string>;

TEST_F(Sampler, LoadsOnceSamplingIsEnabled) {
  const auto samples = Sample(load_, run_);
  ASSERT_TRUE(samples) << samples.error().Format();
  EXPECT_EQ(fake_.calls, (Calls{"enable", "configure", "load", "start", "run", "stop", "read", "disable"}));
  EXPECT_EQ(samples->total, 9u);
  EXPECT_EQ(samples->foreign, 0u);
  ASSERT_EQ(samples->records.size(), 2u);
  EXPECT_EQ(samples->records[0].function, "k");
  EXPECT_EQ(samples->records[0].pc, 0x10u);
  EXPECT_EQ(samples->records[0].stalls, (std::map<std::string, uint64_t>{{"long_scoreboard", 6}}))
      << "what was not issued is a part of them";
}

TEST_F(Sampler, OlderModulesAreForeign) {
  fake_.Loads("k");
  const auto samples = Sample([] { return Status{}; }, run_);
  ASSERT_TRUE(samples) << samples.error().Format();
  EXPECT_TRUE(samples->records.empty());
  EXPECT_EQ(samples->foreign, 3u);
  EXPECT_EQ(samples->total, 3u);
}

TEST_F(Sampler, TakesAllReadsAndWhatDisablingHandsOut) {
  fake_.per_read = 1;
  fake_.at_disable = {{"k", 0x30}};
  const auto samples = Sample(load_, run_);
  ASSERT_TRUE(samples) << samples.error().Format();
  EXPECT_EQ(fake_.calls,
            (Calls{"enable", "configure", "load", "start", "run", "stop", "read", "read", "read", "disable"}));
  EXPECT_EQ(samples->records.size(), 3u);
  EXPECT_EQ(samples->total, 12u);
}

TEST_F(Sampler, AFullBufferKeepsTheBeginning) {
  fake_.read_result = CUPTI_ERROR_OUT_OF_MEMORY;
  const auto samples = Sample(load_, run_);
  ASSERT_TRUE(samples) << samples.error().Format();
  EXPECT_TRUE(samples->overflow);
  EXPECT_EQ(samples->records.size(), 2u);
}

TEST_F(Sampler, ErrorsLeaveSamplingOff) {
  const Status failure = Fail(ErrorCode::kEnvironment, "on purpose");
  const auto fails = [&] { return failure; };
  const auto not_loaded = Sample(fails, run_);
  ASSERT_FALSE(not_loaded);
  EXPECT_EQ(not_loaded.error().message, "on purpose");
  EXPECT_EQ(fake_.calls, (Calls{"enable", "configure", "load", "disable"}));

  fake_.calls.clear();
  const auto not_run = Sample(load_, fails);
  ASSERT_FALSE(not_run);
  EXPECT_EQ(fake_.calls, (Calls{"enable", "configure", "load", "start", "run", "stop", "disable"}));

  fake_.calls.clear();
  fake_.enable_result = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const auto refused = Sample(load_, run_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kEnvironment);
  EXPECT_EQ(fake_.calls, Calls{"enable"});
}

}  // namespace
}  // namespace warpwright::gpu
