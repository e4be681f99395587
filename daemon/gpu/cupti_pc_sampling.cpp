#include "gpu/cupti_pc_sampling.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

namespace warpwright::gpu {
namespace {

constexpr size_t kPcsPerRead = 8192;
constexpr int kMaxReads = 256;
constexpr size_t kHardwareBufferBytes = size_t{128} << 20;  // of device memory; CUPTI would take 512 MiB
constexpr size_t kScratchBytes = size_t{16} << 20;
constexpr double kWantedSamples = 4e5;  // enough for a line with one percent to stand out, far from filling the buffer

template <typename Params>
Params PcParams(size_t size, CUcontext context) {
  Params params{};
  params.size = size;
  params.ctx = context;
  return params;
}
#define WW_PC_PARAMS(Type, name, context) auto name = PcParams<Type>(Type##Size, context)

// "smsp__pcsamp_warps_issue_stalled_barrier" is "barrier"; names that end in "_not_issued" count some of the same
// samples again.
std::string ShortReason(std::string_view name) {
  constexpr std::string_view kSuffix = "_not_issued";
  if (name.size() >= kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix) return {};
  const size_t stalled = name.find("stalled_");
  return std::string(stalled == std::string_view::npos ? name : name.substr(stalled + 8));
}

// Space for one read. CUPTI writes through the pointers inside, so it must not move.
class ReadBuffer {
 public:
  explicit ReadBuffer(size_t reasons) : pcs_(kPcsPerRead), stalls_(kPcsPerRead * reasons) {
    for (size_t i = 0; i < pcs_.size(); ++i) {
      pcs_[i].size = sizeof(CUpti_PCSamplingPCData);
      pcs_[i].stallReason = &stalls_[i * reasons];
    }
    data_.size = sizeof(CUpti_PCSamplingData);
    data_.collectNumPcs = kPcsPerRead;
    data_.pPcData = pcs_.data();
  }
  ReadBuffer(const ReadBuffer&) = delete;
  ReadBuffer& operator=(const ReadBuffer&) = delete;
  CUpti_PCSamplingData& data() { return data_; }

 private:
  std::vector<CUpti_PCSamplingPCData> pcs_;
  std::vector<CUpti_PCSamplingStallReason> stalls_;
  CUpti_PCSamplingData data_{};
};

// Sampling in one context: enabled by Enable, disabled by the destructor.
class PcSampler {
 public:
  PcSampler(const Cupti& cupti, CUcontext context) : cupti_(cupti), context_(context) {}
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;
  ~PcSampler() { Disable(); }

  Status Enable(double expected_us) {
    WW_PC_PARAMS(CUpti_PCSamplingEnableParams, params, context_);
    WW_TRY(cupti_.CheckEnable(cupti_.PCSamplingEnable(&params), "cuptiPCSamplingEnable"));
    enabled_ = true;
    WW_TRY(ReadReasons());
    last_ = std::make_unique<ReadBuffer>(reason_count_);
    return Configure(expected_us);
  }

  Status Run(const std::function<Status()>& run) {
    WW_PC_PARAMS(CUpti_PCSamplingStartParams, start, context_);
    WW_TRY(cupti_.CheckEnable(cupti_.PCSamplingStart(&start), "cuptiPCSamplingStart"));
    const Status ran = run();
    WW_PC_PARAMS(CUpti_PCSamplingStopParams, stop, context_);
    const CUptiResult stopped = cupti_.PCSamplingStop(&stop);
    WW_TRY(ran);
    return cupti_.Check(stopped, "cuptiPCSamplingStop");
  }

  Result<PcSamples> Read() {
    ReadBuffer buffer(reason_count_);
    WW_PC_PARAMS(CUpti_PCSamplingGetDataParams, params, context_);
    params.pcSamplingData = &buffer.data();
    for (int read = 0; read < kMaxReads; ++read) {
      const CUptiResult result = cupti_.PCSamplingGetData(&params);
      if (result == CUPTI_ERROR_OUT_OF_MEMORY) samples_.overflow = true;
      else WW_TRY(cupti_.Check(result, "cuptiPCSamplingGetData"));
      Consume(buffer.data());
      if (result != CUPTI_SUCCESS || buffer.data().remainingNumPcs == 0) break;
    }
    Disable();  // delivers the remaining samples through the configuration's buffer
    Consume(last_->data());
    for (auto& [place, stalls] : merged_) samples_.records.push_back({place.first, place.second, std::move(stalls)});
    return std::move(samples_);
  }

 private:
  Status ReadReasons() {
    WW_PC_PARAMS(CUpti_PCSamplingGetNumStallReasonsParams, count, context_);
    count.numStallReasons = &reason_count_;
    WW_TRY(cupti_.Check(cupti_.PCSamplingGetNumStallReasons(&count), "cuptiPCSamplingGetNumStallReasons"));
    std::vector<std::vector<char>> texts(reason_count_, std::vector<char>(CUPTI_STALL_REASON_STRING_SIZE));
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    indices_.resize(reason_count_);
    WW_PC_PARAMS(CUpti_PCSamplingGetStallReasonsParams, names, context_);
    names.numStallReasons = reason_count_;
    names.stallReasonIndex = indices_.data();
    names.stallReasons = pointers.data();
    WW_TRY(cupti_.Check(cupti_.PCSamplingGetStallReasons(&names), "cuptiPCSamplingGetStallReasons"));
    for (size_t i = 0; i < reason_count_; ++i) reasons_[indices_[i]] = ShortReason(texts[i].data());
    return {};
  }

  Status Configure(double expected_us) {
    std::vector<CUpti_PCSamplingConfigurationInfo> infos;
    const auto add = [&](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
      infos.emplace_back().attributeType = type;
      return infos.back().attributeData;
    };
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD).samplingPeriodData.samplingPeriod =
        static_cast<uint32_t>(PeriodExponent(expected_us));
    auto& stall = add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON).stallReasonData;
    stall.stallReasonCount = indices_.size();
    stall.pStallReasonIndex = indices_.data();
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE).scratchBufferSizeData.scratchBufferSize =
        kScratchBytes;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE).hardwareBufferSizeData.hardwareBufferSize =
        kHardwareBufferBytes;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE).collectionModeData.collectionMode =
        CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
        .enableStartStopControlData.enableStartStopControl = 1;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT).outputDataFormatData.outputDataFormat =
        CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED;
    add(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER).samplingDataBufferData.samplingDataBuffer =
        &last_->data();
    WW_PC_PARAMS(CUpti_PCSamplingConfigurationInfoParams, params, context_);
    params.numAttributes = infos.size();
    params.pPCSamplingConfigurationInfo = infos.data();
    return cupti_.CheckEnable(cupti_.PCSamplingSetConfigurationAttribute(&params),
                              "cuptiPCSamplingSetConfigurationAttribute");
  }

  // CUPTI shares the text of function names between records and with later reads: they are copied and never freed.
  void Consume(CUpti_PCSamplingData& data) {
    samples_.total += data.totalSamples;
    samples_.dropped += data.droppedSamples;
    samples_.foreign += data.nonUsrKernelsTotalSamples;
    if (data.hardwareBufferFull != 0) samples_.overflow = true;
    for (size_t i = 0; i < std::min(data.totalNumPcs, kPcsPerRead); ++i) {
      const CUpti_PCSamplingPCData& pc = data.pPcData[i];
      auto& stalls = merged_[{pc.functionName != nullptr ? pc.functionName : "", pc.pcOffset}];
      for (size_t r = 0; r < std::min(pc.stallReasonCount, reason_count_); ++r) {
        const auto reason = reasons_.find(pc.stallReason[r].pcSamplingStallReasonIndex);
        if (reason != reasons_.end() && !reason->second.empty() && pc.stallReason[r].samples > 0)
          stalls[reason->second] += pc.stallReason[r].samples;
      }
    }
    data.totalSamples = data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
    data.totalNumPcs = 0;
  }

  void Disable() {
    if (!enabled_) return;
    enabled_ = false;
    WW_PC_PARAMS(CUpti_PCSamplingDisableParams, params, context_);
    cupti_.PCSamplingDisable(&params);
  }

  const Cupti& cupti_;
  CUcontext context_;
  bool enabled_ = false;
  size_t reason_count_ = 0;
  std::vector<uint32_t> indices_;
  std::map<uint32_t, std::string> reasons_;  // empty: not counted
  std::unique_ptr<ReadBuffer> last_;         // CUPTI's own until Disable
  std::map<std::pair<std::string, uint64_t>, std::map<std::string, uint64_t>> merged_;
  PcSamples samples_;
};

// A copy with some zeros behind it, so that no other content has its size.
std::span<const std::byte> Kept(std::span<const std::byte> cubin) {
  constexpr size_t kStep = 16;
  using Bytes = std::vector<std::byte>;
  static std::mutex mutex;
  static auto& copies = *new std::map<Bytes, Bytes>();  // by content; CUPTI may remember addresses: never freed
  static auto& sizes = *new std::set<size_t>();
  const std::lock_guard lock(mutex);
  const auto [copy, is_new] = copies.try_emplace(Bytes(cubin.begin(), cubin.end()));
  if (is_new) {
    copy->second = copy->first;
    while (!sizes.insert(copy->second.size()).second) copy->second.resize(copy->second.size() + kStep);
  }
  return copy->second;
}

}  // namespace

int PeriodExponent(double expected_us) {
  constexpr double kCyclesPerUs = 1.8e3, kSchedulers = 600;  // of a large chip
  const double samples_per_cycle = kWantedSamples / (std::max(1.0, expected_us) * kCyclesPerUs * kSchedulers);
  return std::clamp(static_cast<int>(std::ceil(-std::log2(samples_per_cycle))), 5, 31);
}

Result<PcSamples> SamplePcs(const Cupti& cupti, CUcontext context, const SampledRun& sampled) {
  PcSampler sampler(cupti, context);
  WW_TRY(sampler.Enable(sampled.expected_us));
  WW_TRY(sampled.load());
  WW_TRY(sampler.Run(sampled.run));
  return sampler.Read();
}

CubinLines::CubinLines(const Cupti& cupti, std::span<const std::byte> cubin) : cupti_(cupti), kept_(Kept(cubin)) {}

std::optional<SourceLine> CubinLines::At(const std::string& function, uint64_t pc) const {
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = kept_.data();
  params.cubinSize = kept_.size();
  params.functionName = function.c_str();
  params.pcOffset = pc;
  const CUptiResult result = cupti_.GetSassToSourceCorrelation(&params);
  const std::unique_ptr<char, decltype(&std::free)> file(params.fileName, &std::free),
      folder(params.dirName, &std::free);
  if (result != CUPTI_SUCCESS || file == nullptr || params.lineNumber == 0) return std::nullopt;
  const bool in_folder = folder != nullptr && *folder.get() != '\0' && *file.get() != '/';
  return SourceLine{(in_folder ? std::string(folder.get()) + "/" : std::string()) + file.get(),
                    static_cast<int>(params.lineNumber)};
}

std::string NameInModule(const std::string& path, std::string_view ptx) {
  std::string best;
  for (size_t at = ptx.find(".file"); at != std::string_view::npos; at = ptx.find(".file", at + 1)) {
    const size_t open = ptx.find_first_of("\"\n", at);
    if (open == std::string_view::npos || ptx[open] != '"') continue;
    const std::string_view name = ptx.substr(open + 1, ptx.find('"', open + 1) - open - 1);
    const bool is_tail =
        path.ends_with(name) && (path.size() == name.size() || path[path.size() - name.size() - 1] == '/');
    if (is_tail && name.size() > best.size()) best = name;
  }
  return best.empty() ? path : best;
}

std::vector<core::LineCounters> HottestLines(const PcSamples& samples, const std::string& function,
                                             const std::function<std::optional<SourceLine>(uint64_t pc)>& locate,
                                             size_t limit) {
  std::map<SourceLine, core::LineCounters> by_line;
  for (const auto& record : samples.records) {
    if (record.function != function) continue;
    const auto where = locate(record.pc);
    if (!where) continue;
    core::LineCounters& line = by_line[*where];
    line.file = where->file;
    line.line = where->line;
    for (const auto& [reason, count] : record.stalls) {
      line.samples += count;
      line.stalls[reason] += count;
    }
  }
  std::vector<core::LineCounters> lines;
  for (auto& [where, line] : by_line) lines.push_back(std::move(line));
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
  if (lines.size() > limit) lines.resize(limit);
  return lines;
}

}  // namespace warpwright::gpu
