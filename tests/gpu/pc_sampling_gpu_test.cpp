// When CUPTI attributes PC samples to a kernel: ways to load a module and to switch sampling on, with what each gave.
// Each way stands alone under --gtest_filter, for what CUPTI learns of a process may stay.
#include <elf.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "gpu/cupti_pc_sampling.h"
#include "tests/gpu/support.h"

namespace warpwright::gpu {
namespace {

constexpr size_t kPcs = 4096;
constexpr int kMaxReads = 64;

enum class Moment { kNever, kBeforeEnable, kAfterEnable, kAfterConfigure, kAfterStart };
struct Way {
  const char* name;
  bool must_attribute;  // what SamplePcs relies on
  Moment load;          // of the copy that is sampled
  bool older_copy;      // loaded and run before sampling is enabled
  Moment unload_older;  // kNever: after sampling is disabled
  CUpti_PCSamplingCollectionMode mode;
  bool start_stop;
  int ranges;  // starts and stops
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
constexpr auto kContinuous = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
constexpr auto kSerialized = CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED;
const Way kWays[] = {
    {"LoadedBefore", false, Moment::kBeforeEnable, false, Moment::kNever, kContinuous, true, 1},
    {"LoadedBeforeSerialized", false, Moment::kBeforeEnable, false, Moment::kNever, kSerialized, true, 1},
    {"SecondCopy", true, Moment::kAfterConfigure, true, Moment::kNever, kContinuous, true, 1},
    {"SecondCopyBeforeConfiguration", false, Moment::kAfterEnable, true, Moment::kNever, kContinuous, true, 1},
    {"SecondCopySerialized", false, Moment::kAfterConfigure, true, Moment::kNever, kSerialized, true, 1},
    {"SecondCopyWithoutStartStop", false, Moment::kAfterConfigure, true, Moment::kNever, kContinuous, false, 1},
    {"SecondCopyAfterStart", false, Moment::kAfterStart, true, Moment::kNever, kContinuous, true, 1},
    {"OnlyCopy", false, Moment::kAfterConfigure, false, Moment::kNever, kContinuous, true, 1},
    {"ReplacedBeforeEnabling", false, Moment::kAfterConfigure, true, Moment::kBeforeEnable, kContinuous, true, 1},
    {"ReplacedAfterEnabling", false, Moment::kAfterConfigure, true, Moment::kAfterEnable, kContinuous, true, 1},
    {"ThreeRanges", false, Moment::kAfterConfigure, true, Moment::kNever, kContinuous, true, 3},
};

// One buffer that CUPTI writes, and the sums of what it wrote.
class Buffer {
 public:
  explicit Buffer(size_t reasons) : pcs_(kPcs), stalls_(kPcs * reasons) {
    for (size_t i = 0; i < kPcs; ++i) {
      pcs_[i].size = sizeof(CUpti_PCSamplingPCData);
      pcs_[i].stallReason = &stalls_[i * reasons];
    }
    data.size = sizeof(CUpti_PCSamplingData);
    data.collectNumPcs = kPcs;
    data.pPcData = pcs_.data();
  }
  CUpti_PCSamplingData data{};

 private:
  std::vector<CUpti_PCSamplingPCData> pcs_;
  std::vector<CUpti_PCSamplingStallReason> stalls_;
};

class PcSamplingGpu : public GpuTest, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    Open(kChase, {"chase"}, kChain * 4);
    if (IsSkipped() || HasFatalFailure()) return;
    const auto cupti = LoadCupti();
    if (!cupti) GTEST_SKIP() << cupti.error().Format();
    cupti_ = *cupti;
    Upload(in_, Chain());
  }

  void Say(const char* call, CUptiResult result) {
    fmt::print("  {}: {}\n", call, cupti_->Describe(result));
    refused_ = refused_ || result != CUPTI_SUCCESS;
  }
  template <typename Params>
  Params Of(size_t size) {
    Params params{};
    params.size = size;
    params.ctx = context_;
    return params;
  }
  void Reach(Moment moment) {
    if (GetParam().older_copy && GetParam().unload_older == moment) Unload();
    if (GetParam().load != moment) return;
    ASSERT_TRUE(Load());
  }
  double RunUs() {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(RunChase());
    return 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void Enable() {
    auto params = Of<CUpti_PCSamplingEnableParams>(CUpti_PCSamplingEnableParamsSize);
    Say("enable", cupti_->PCSamplingEnable(&params));
  }
  void Configure() {
    auto count = Of<CUpti_PCSamplingGetNumStallReasonsParams>(CUpti_PCSamplingGetNumStallReasonsParamsSize);
    count.numStallReasons = &reasons_;
    Say("number of stall reasons", cupti_->PCSamplingGetNumStallReasons(&count));
    last_ = std::make_unique<Buffer>(reasons_);
    std::vector<CUpti_PCSamplingConfigurationInfo> infos(5);
    infos[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
    infos[0].attributeData.samplingPeriodData.samplingPeriod = static_cast<uint32_t>(PeriodExponent(1000));
    infos[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
    infos[1].attributeData.collectionModeData.collectionMode = GetParam().mode;
    infos[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
    infos[2].attributeData.enableStartStopControlData.enableStartStopControl = GetParam().start_stop ? 1 : 0;
    infos[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT;
    infos[3].attributeData.outputDataFormatData.outputDataFormat = CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
    infos[4].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
    infos[4].attributeData.samplingDataBufferData.samplingDataBuffer = &last_->data;
    auto params = Of<CUpti_PCSamplingConfigurationInfoParams>(CUpti_PCSamplingConfigurationInfoParamsSize);
    params.numAttributes = infos.size();
    params.pPCSamplingConfigurationInfo = infos.data();
    Say("configure", cupti_->PCSamplingSetConfigurationAttribute(&params));
  }
  void Range() {
    auto start = Of<CUpti_PCSamplingStartParams>(CUpti_PCSamplingStartParamsSize);
    if (GetParam().start_stop) Say("start", cupti_->PCSamplingStart(&start));
    Reach(Moment::kAfterStart);
    fmt::print("  a run while sampling is on: {:.0f} us\n", RunUs());
    auto stop = Of<CUpti_PCSamplingStopParams>(CUpti_PCSamplingStopParamsSize);
    if (GetParam().start_stop) Say("stop", cupti_->PCSamplingStop(&stop));
    Show("the configured buffer after the range", last_->data);
    Buffer buffer(reasons_);
    auto get = Of<CUpti_PCSamplingGetDataParams>(CUpti_PCSamplingGetDataParamsSize);
    get.pcSamplingData = &buffer.data;
    for (int read = 0; read < kMaxReads; ++read) {
      Say("get data", cupti_->PCSamplingGetData(&get));
      Take("read", buffer.data);
      if (buffer.data.remainingNumPcs == 0) break;
    }
  }
  void Disable() {
    auto params = Of<CUpti_PCSamplingDisableParams>(CUpti_PCSamplingDisableParamsSize);
    Say("disable", cupti_->PCSamplingDisable(&params));
    Take("the configured buffer after disabling", last_->data);
  }

  static void Show(const char* what, const CUpti_PCSamplingData& data) {
    fmt::print(
        "  {}: {} samples, {} dropped, {} foreign; {} instructions, {} remain; range {}, hardware buffer full {}\n",
        what, uint64_t{data.totalSamples}, uint64_t{data.droppedSamples}, uint64_t{data.nonUsrKernelsTotalSamples},
        size_t{data.totalNumPcs}, size_t{data.remainingNumPcs}, uint64_t{data.rangeId},
        data.hardwareBufferFull != 0);  // packed
  }
  void Take(const char* what, CUpti_PCSamplingData& data) {
    Show(what, data);
    total_ += data.totalSamples;
    foreign_ += data.nonUsrKernelsTotalSamples;
    for (size_t i = 0; i < std::min(data.totalNumPcs, kPcs); ++i) {
      const auto& pc = data.pPcData[i];
      uint64_t samples = 0;
      for (size_t r = 0; r < std::min(pc.stallReasonCount, reasons_); ++r) samples += pc.stallReason[r].samples;
      const std::string name = pc.functionName != nullptr ? pc.functionName : "(null)";
      places_[{pc.cubinCrc, name, pc.functionIndex}][pc.pcOffset] += samples;
    }
    data.totalSamples = data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
    data.totalNumPcs = 0;
  }

  void PrintModule() {
    CUpti_GetCubinCrcParams crc{};
    crc.size = CUpti_GetCubinCrcParamsSize;
    crc.cubin = compiled_.cubin.data();
    crc.cubinSize = compiled_.cubin.size();
    Say("crc of the cubin", cupti_->GetCubinCrc(&crc));
    Elf64_Ehdr header{};
    std::memcpy(&header, compiled_.cubin.data(), std::min(sizeof header, compiled_.cubin.size()));
    const uint64_t sections_end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
    const uint64_t segments_end = header.e_phoff + uint64_t{header.e_phnum} * header.e_phentsize;
    fmt::print("  cubin: crc {:#x}, {} bytes, its headers end at {}, kernel {}\n", crc.cubinCrc, compiled_.cubin.size(),
               std::max(sections_end, segments_end), compiled_.kernels[0].symbol);
  }
  // Samples of the kernel that have a line, and those of the hot line.
  std::pair<uint64_t, uint64_t> PrintPlaces() {
    uint64_t with_line = 0, hot = 0;
    for (const auto& [function, pcs] : places_) {
      const auto& [crc, name, index] = function;
      fmt::print("  seen: crc {:#x}, function {} (index {}), {} instructions from {:#x} to {:#x}\n", crc, name, index,
                 pcs.size(), pcs.begin()->first, pcs.rbegin()->first);
      for (const auto& [pc, samples] : pcs) {
        const auto line = CubinLines(*cupti_, compiled_.cubin).At(compiled_.kernels[0].symbol, pc);
        fmt::print("    {:#6x} {:8} {}\n", pc, samples,
                   line ? fmt::format("{}:{}", NameInModule(line->file, compiled_.ptx), line->line) : "no line");
        if (name != compiled_.kernels[0].symbol || !line) continue;
        with_line += samples;
        if (line->line == HotLine(kChase)) hot += samples;
      }
    }
    return {with_line, hot};
  }

  const Cupti* cupti_ = nullptr;
  size_t reasons_ = 0;
  std::unique_ptr<Buffer> last_;
  bool refused_ = false;
  uint64_t total_ = 0, foreign_ = 0;
  std::map<std::tuple<uint64_t, std::string, uint32_t>, std::map<uint64_t, uint64_t>> places_;
};

TEST_P(PcSamplingGpu, Attributes) {
  const Way& way = GetParam();
  fmt::print("{}\n", way.name);
  PrintModule();
  if (way.older_copy || way.load == Moment::kBeforeEnable) {
    ASSERT_TRUE(Load());
    RunUs();
    fmt::print("  a run before: {:.0f} us\n", RunUs());
  }
  if (way.older_copy) Reach(Moment::kBeforeEnable);
  Enable();
  Reach(Moment::kAfterEnable);
  Configure();
  Reach(Moment::kAfterConfigure);
  for (int range = 0; range < way.ranges; ++range) {
    if (range > 0) fmt::print("  a run while sampling is enabled and not started: {:.0f} us\n", RunUs());
    Range();
  }
  Disable();
  fmt::print("  a run after: {:.0f} us\n", RunUs());
  const auto [with_line, hot] = PrintPlaces();
  fmt::print("{}: {}. {} samples, {} foreign; in the kernel with a line {}, of these in the hot one {}\n", way.name,
             with_line > 0 ? "WORKS" : "attributes nothing", total_, foreign_, with_line, hot);
  if (!way.must_attribute) return;
  EXPECT_FALSE(refused_);
  EXPECT_GT(with_line, 0u);
  EXPECT_GT(hot, with_line / 2);
}

INSTANTIATE_TEST_SUITE_P(Ways, PcSamplingGpu, testing::ValuesIn(kWays),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace warpwright::gpu
