#include "agents/briefing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agents/data_block.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "core/quantity.h"
#include "core/source_requests.h"
#include "core/tensor_rates.h"

namespace warpwright::agents {
namespace {

constexpr size_t kMaxLogBytes = 6'000, kMaxHeaders = 8, kHistoryRows = 24;
constexpr double kShownShare = 0.1;  // of the time: lines of a launch with less are not shown

std::string ScalarText(const core::ScalarValue& value) {
  return std::visit([](auto number) { return fmt::format("{}", number); }, value);
}

std::string Bytes(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes / 1e6);
  return bytes >= 1e4 ? fmt::format("{:.3g} kB", bytes / 1e3) : fmt::format("{:.0f} B", bytes);
}

std::string ParameterText(const core::Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

std::string CaseText(const core::KernelSpec& spec, const core::Case& c, bool modelled) {
  std::string scalars, buffers;
  for (const core::Argument& argument : spec.args) {
    if (const auto scalar = c.scalars.find(argument.name); scalar != c.scalars.end())
      scalars += fmt::format("{}{} = {}", scalars.empty() ? "" : ", ", argument.name, ScalarText(scalar->second));
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    const auto shape = buffer != nullptr ? core::ShapeOf(argument, c) : Fail(ErrorCode::kUsage, "");
    if (!shape) continue;
    double bytes = static_cast<double>(core::SizeOf(buffer->dtype));
    for (const int64_t extent : *shape) bytes *= static_cast<double>(extent);
    buffers +=
        fmt::format("{}{}[{}] {}", buffers.empty() ? "" : ", ", argument.name, fmt::join(*shape, ", "), Bytes(bytes));
  }
  const bool is_run = c.on.count(modelled ? core::DeviceKind::kSim : core::DeviceKind::kCuda) > 0;
  return fmt::format("- case {}, {}: {}\n  {}\n", Quoted(c.name, 80),
                     !is_run        ? "not run on this device, but what users run elsewhere"
                     : c.weight > 0 ? fmt::format("weight {:g}", c.weight)
                                    : std::string("small"),
                     scalars, buffers);
}

// How it is filled where it is timed, as the manifest says it: what is drawn decides ties, collisions, balance.
std::string ValuesText(const core::BufferArgument& buffer) {
  if (buffer.role != core::Role::kIn && buffer.role != core::Role::kInOut) return {};
  using Kind = core::Init::Kind;
  const core::Init& init = buffer.init;
  switch (init.kind) {
    case Kind::kDefault:
      return core::IsFloat(buffer.dtype) ? "; values: normal, mean 0, deviation 1" : "; values: integers from 0 to 127";
    case Kind::kNormal: return fmt::format("; values: normal, mean {:g}, deviation {:g}", init.a, init.b);
    case Kind::kUniform: return fmt::format("; values: uniform from {:g} to {:g}", init.a, init.b);
    case Kind::kPareto: return fmt::format("; values: Pareto, alpha {:g}", init.a);
    case Kind::kLognormal: return fmt::format("; values: lognormal, mu {:g}, sigma {:g}", init.a, init.b);
    case Kind::kConstant: return fmt::format("; values: all {:g}", init.a);
    case Kind::kIntegers:
      return fmt::format("; values: integers from {} to {}, uniform", init.low ? init.low->text() : "0",
                         init.high ? init.high->text() : "127");
    case Kind::kFile: return "; values: from a file";
  }
  return {};
}

// Without the bars that begin its lines, and with single spaces: a reader copies either, or not.
std::string WordsOf(std::string_view text) {
  std::string words;
  for (std::string_view line : base::LinesOf(text)) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
    if (line.starts_with('|')) line.remove_prefix(1);
    words += ' ';
    for (const char c : line)
      if (c != ' ' && c != '\t' && c != '\r') words += c;
      else if (words.back() != ' ') words += ' ';
    if (words.back() == ' ') words.pop_back();
  }
  if (words.starts_with(' ')) words.erase(0, 1);
  return words;
}

// By what its instructions did: the widths of accesses, and whether tensor cores are used, stand in no source for sure.
std::string InstructionText(const core::LaunchReport& launch) {
  const core::Counters& counters = launch.counters;
  const auto known = [&](std::initializer_list<const char*> names) {
    return std::none_of(names.begin(), names.end(), [&](const char* name) { return launch.unmeasured.contains(name); });
  };
  const auto accesses = [](const char* name, uint64_t bytes, uint64_t sectors, uint64_t requests) {
    const auto per_request = [&](uint64_t n) { return static_cast<double>(n) / static_cast<double>(requests); };
    return fmt::format("; a global {} asks for {:.3g} B a lane and touches {:.3g} sectors", name,
                       per_request(bytes) / 32, per_request(sectors));
  };
  std::string text;
  if (counters.global_load_requests > 0 && known({"global_load_requests", "global_load_bytes", "global_load_sectors"}))
    text += accesses("load", counters.global_load_bytes, counters.global_load_sectors, counters.global_load_requests);
  if (counters.global_store_requests > 0 &&
      known({"global_store_requests", "global_store_bytes", "global_store_sectors"}))
    text +=
        accesses("store", counters.global_store_bytes, counters.global_store_sectors, counters.global_store_requests);
  if (launch.time.tensor_us > 0 && launch.time.total_us > 0 && known({"tensor_us"}))
    text +=
        fmt::format("; tensor cores are busy {:.0f} % of its time", 100 * launch.time.tensor_us / launch.time.total_us);
  return text;
}

// With their text, though the listing has it: it is of this version, and numbers alone are misread.
std::string HotLinesText(const Situation& at, const core::LaunchReport& launch) {
  const std::vector<std::string_view> lines = base::LinesOf(at.base.text);
  std::string text;
  for (const HotLine& hot : HotLinesOf(launch)) {
    const bool here = hot.file == at.original.file;
    text += fmt::format("  - {}line {}: {}", here ? "" : Quoted(hot.file) + " ", hot.line, hot.figures);
    if (here && hot.line > 0 && static_cast<size_t>(hot.line) <= lines.size()) {
      const std::string_view line = lines[static_cast<size_t>(hot.line) - 1];
      text += ": " + Quoted(line.substr(std::min(line.size(), line.find_first_not_of(" \t"))), 160);
    }
    text += "\n";
  }
  return text;
}

std::string LaunchText(const core::LaunchReport& launch, double total_us) {
  std::string text = fmt::format(
      "- {}: {:.1f} % of the time, {} blocks of {} threads, {} registers a thread, {} B of shared memory a block",
      Quoted(launch.kernel, 120), total_us > 0 ? 100 * launch.time.total_us / total_us : 0.0, launch.blocks_total,
      launch.threads_per_block, launch.registers, launch.shared_bytes_per_block);
  if (launch.occupancy.theoretical > 0)
    text += fmt::format("; occupancy {:.0f} %{}{}", 100 * launch.occupancy.theoretical,
                        core::Name(launch.occupancy.limiter).empty() ? "" : ", limited by ",
                        core::Name(launch.occupancy.limiter));
  text +=
      launch.time.limiter.empty() ? "; what it is bound by was not counted" : "; it is bound by " + launch.time.limiter;
  const core::Counters& counters = launch.counters;
  if (counters.shared_bank_conflicts > 0 && counters.shared_requests > 0)
    text +=
        fmt::format("; {:.2g} bank conflicts a shared request", static_cast<double>(counters.shared_bank_conflicts) /
                                                                    static_cast<double>(counters.shared_requests));
  if (counters.local_load_bytes + counters.local_store_bytes > 0)
    text += "; it spills, " + Bytes(static_cast<double>(counters.local_load_bytes + counters.local_store_bytes));
  return text + InstructionText(launch) + "\n";
}

// What an operation is not needs no line each.
std::string EvidenceText(const core::Evidence& evidence) {
  std::string text = fmt::format("Evidence, of the hottest kernel (operation: {}):\n", core::Name(evidence.operation));
  std::string no;
  for (const core::EvidenceField& field : core::EvidenceFields()) {
    const auto value = evidence.Get(field.name);
    if (!value || field.name.starts_with("op_")) continue;
    if (field.unit == "bool" && *value == 0) no += fmt::format("{}{}", no.empty() ? "" : ", ", field.name);
    else if (field.unit == "bool") text += fmt::format("- {} = 1 (yes)\n", field.name);
    else text += fmt::format("- {} = {:.4g}{}{}\n", field.name, *value, field.unit.empty() ? "" : " ", field.unit);
  }
  return no.empty() ? text : text + "- = 0 (no): " + no + "\n";
}

enum class Detail { kSketch, kExample };

std::string MethodText(const skills::RankedMethod& method, Detail detail) {
  const skills::MethodCard& card = *method.card;
  std::string text = fmt::format("### {}: {}\n{}\n", card.id, card.title, card.intent);
  // What is not known gives no reason.
  for (const std::string& reason : method.reasons)
    if (reason.find("unknown") == std::string::npos) text += "- why here: " + reason + "\n";
  if (!card.mechanism.empty()) text += "How it works: " + card.mechanism + "\n";
  for (const std::string& forbidden : card.forbidden) text += "- never: " + forbidden + "\n";
  for (const skills::KnownFailure& failure : card.failures)
    text += fmt::format("- known failure: {}: {}; {}\n", failure.symptom, failure.cause, failure.remedy);
  const bool worked = detail == Detail::kExample && !card.example.empty();
  if (worked) text += "A worked example, which compiles and computes what it says:\n";
  const std::string& code = worked ? card.example : card.sketch;
  if (!code.empty()) text += "```\n" + code + (code.ends_with('\n') ? "" : "\n") + "```\n";
  return text;
}

}  // namespace

std::string ChipFacts(const core::Chip& chip, const core::BuildOptions& build, bool modelled) {
  const std::string architecture = build.ArchitectureOf(chip.arch);
  std::string text = fmt::format(
      "{} ({}): {} multiprocessors at {:.2f} GHz, {} warps, {} blocks and {} 32-bit registers each, {} B of shared "
      "memory each, at most {} B a block (above 49152 B only as dynamic shared memory, after cudaFuncSetAttribute). "
      "L2 {}, {:.1f} TB/s; memory {:.2f} TB/s. A launch takes about {:.1f} us. FP32: {:.1f} Tflop/s without tensor "
      "cores.\n",
      chip.name, chip.arch, chip.multiprocessors, chip.clock_ghz, chip.max_warps, chip.max_blocks, chip.registers,
      chip.shared_bytes, chip.shared_bytes_per_block_optin, Bytes(chip.l2_bytes), chip.l2_bytes_per_second / 1e12,
      chip.dram_bytes_per_second / 1e12, chip.launch_overhead_us,
      2e-3 * chip.fp32_lanes * chip.multiprocessors * chip.clock_ghz);
  if (chip.tensor_fma_per_cycle > 0)
    text += fmt::format("FP16 and BF16 by mma.sync, summed in FP32: {:.0f} Tflop/s.\n",
                        2e-3 * chip.tensor_fma_per_cycle * chip.multiprocessors * chip.clock_ghz);
  if (modelled)
    text +=
        "This run is on a simulator of the chip. It executes PTX exactly and models the time. It knows no TMA "
        "(cp.async.bulk) or clusters; a kernel with an instruction that it does not know fails, and the verdict names "
        "it.\n";
  text += "The code is compiled for " + architecture;
  text += architecture.ends_with('a')
              ? ", so that wgmma compiles (the simulator knows it of f16 and bf16).\n"
              : "; wgmma and setmaxnreg, which need an architecture with an 'a', do not compile.\n";
  return text;
}

std::string ContractFacts(const core::KernelSpec& spec, bool modelled) {
  std::string text = fmt::format("The entry is {} in the file {}.\n", Quoted(spec.entry), Quoted(spec.file));
  if (!spec.build.IsDefault()) text += fmt::format("It is compiled with {}.\n", Quoted(spec.build.Text(), 1000));
  for (const core::Argument& argument : spec.args) {
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
      std::string shape;
      for (const core::Expression& extent : buffer->shape) shape += (shape.empty() ? "" : ", ") + extent.text();
      text += fmt::format("- {}: buffer of {} [{}], {}, aligned to {} B{}\n", Quoted(argument.name, 80),
                          core::Name(buffer->dtype), base::Clip(base::CleanText(shape, 1000), 300),
                          core::Name(buffer->role), buffer->alignment, ValuesText(*buffer));
    } else {
      text += fmt::format("- {}: scalar {}\n", Quoted(argument.name, 80),
                          core::Name(std::get<core::ScalarArgument>(argument.kind).dtype));
    }
  }
  text +=
      "Buffers are dense, the last dimension fastest: a stride is the product of the extents behind it.\nThe cases:\n";
  for (const core::Case& c : spec.cases) text += CaseText(spec, c, modelled);
  if (spec.special == core::SpecialInputs::kStrict)
    text += "Infinities and NaN stand exactly where the original has them.\n";
  if (spec.special == core::SpecialInputs::kFinite)
    text += "Callers pass finite numbers: infinities and NaN are not tried.\n";
  if (spec.tolerance.relative) text += fmt::format("Relative tolerance: {:g}.\n", *spec.tolerance.relative);
  std::string allowed;
  for (const core::Allow allow : spec.allow) allowed += (allowed.empty() ? "" : ", ") + std::string(core::Name(allow));
  text += allowed.empty() ? "Nothing is allowed beyond what the original does: no narrower types, no tf32, no results "
                            "that differ from run to run.\n"
                          : "Allowed: " + allowed + ".\n";
  return text;
}

namespace {

// No original was faster than what its counted operations take without tensor cores; a new version may be.
std::string FloorText(const Situation& at) {
  const core::Roofline& roofline = at.features.roofline;
  std::string text = fmt::format("The floor of case {}: ", Quoted(at.features.case_name, 80));
  if (roofline.flops <= 0)
    return text + fmt::format("{:.4g} us to move {}; no floating-point operations were counted.\n", roofline.floor_us,
                              Bytes(roofline.min_bytes));
  const char* const set_by = roofline.memory_us >= roofline.compute_us ? "memory" : "operations";
  text += fmt::format("{:.4g} us, set by {} ({} to move once, {:.3g} flop by the units that the original uses).\n",
                      roofline.floor_us, set_by, Bytes(roofline.min_bytes), roofline.flops);
  const bool narrow = std::any_of(at.spec.args.begin(), at.spec.args.end(), [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && (buffer->dtype == core::DType::kF16 || buffer->dtype == core::DType::kBF16);
  });
  const double tensor_us = core::TensorUs(at.chip, roofline.flops);
  if (narrow && tensor_us > 0 && tensor_us < roofline.compute_us)
    text += fmt::format("If all its products ran on tensor cores (mma.sync): {:.4g} us.\n",
                        std::max(tensor_us, roofline.memory_us) + at.chip.launch_overhead_us);
  return text;
}

}  // namespace

std::string MeasuredFacts(const Situation& at) {
  std::string text;
  const core::CaseMeasurement* costliest = nullptr;
  for (const core::CaseMeasurement& c : at.measured.cases) {
    text += fmt::format("- case {}: {:.4g} us{}\n", Quoted(c.case_name, 80), c.time_us,
                        at.measured.modelled ? " (modelled)" : "");
    if (c.case_name == at.features.case_name) costliest = &c;
  }
  const core::Roofline& roofline = at.features.roofline;
  if (at.gain != 1) text += fmt::format("This version is {} as fast as the original.\n", core::FormatGain(at.gain));
  text += FloorText(at);
  const auto counted = roofline.flops > 0 ? std::optional(roofline.flops) : std::nullopt;
  if (at.features.formula)
    for (const std::string& line : core::InWords(*at.features.formula, counted)) text += "- " + line + "\n";
  if (costliest != nullptr) {
    text += "Its launches, with the hottest lines of those that take more than a tenth of the time:\n";
    for (const core::LaunchReport& launch : costliest->launches) {
      text += LaunchText(launch, costliest->time_us);
      if (launch.time.total_us > kShownShare * costliest->time_us) text += HotLinesText(at, launch);
    }
  }
  if (!at.features.notes.empty()) text += "By the account of the Feature Extractor, a model that read the code:\n";
  for (const std::string& note : at.features.notes) text += "- " + Quoted(note, 400) + "\n";
  return text + EvidenceText(at.features.evidence);
}

std::string HistoryTable(const Situation& at) {
  if (at.history.empty()) return "Nothing was tried yet.\n";
  std::string text = "| base | tried | with | gain over that base | outcome |\n|---|---|---|---|---|\n";
  const size_t rows = at.history.size(), skipped = rows > kHistoryRows ? rows - kHistoryRows : 0;
  if (skipped > 0) text += fmt::format("| | {} earlier attempts | | | |\n", skipped);
  const auto cell = [](std::string_view value, size_t limit) {
    std::string out = base::Clip(base::CleanText(value, 4 * limit), limit);
    std::replace(out.begin(), out.end(), '|', '/');
    return out;
  };
  for (size_t i = skipped; i < rows; ++i) {
    const PastAttempt& past = at.history[i];
    text += fmt::format("| {} | {} | {} | {} | {} |\n",
                        past.base == 0 ? std::string("original") : fmt::format("version {}", past.base),
                        cell(past.method, 60), cell(ParameterText(past.parameters), 80),
                        past.gain > 0 ? core::FormatGain(past.gain) : "none", cell(past.outcome, 240));
  }
  return text;
}

std::string MethodCards(const skills::MatchResult& match, size_t limit, size_t worked) {
  std::string text;
  if (!match.position.empty()) text += "Position: " + match.position + ".\n";
  for (const skills::Bottleneck& bottleneck : match.bottlenecks)
    if (bottleneck.certain)
      text += fmt::format("- bottleneck {}: {} ({})\n", bottleneck.id, bottleneck.title, bottleneck.evidence);
  // What a schedule does, the built-in Optimizer does: who writes code needs the cards of what is left.
  std::vector<const skills::RankedMethod*> methods;
  for (const skills::RankedMethod& method : match.methods) methods.push_back(&method);
  std::stable_partition(methods.begin(), methods.end(), [](const skills::RankedMethod* method) {
    return !method->card->transform.starts_with(core::kSchedulePrefix);
  });
  const auto shown = methods.begin() + static_cast<ptrdiff_t>(std::min(limit, methods.size()));
  const std::vector<const skills::RankedMethod*> of_others(shown, methods.end());
  methods.erase(shown, methods.end());
  for (const skills::RankedMethod* method : methods) {
    const bool whole = worked > 0 && !method->card->example.empty();
    if (whole) --worked;
    text += MethodText(*method, whole ? Detail::kExample : Detail::kSketch);
  }
  std::string others;
  for (const skills::RankedMethod* method : of_others)
    if (!method->card->transform.starts_with(core::kSchedulePrefix))
      others += fmt::format("{}{} ({})", others.empty() ? "" : "; ", method->card->id, method->card->title);
  if (!others.empty()) text += "Other cards of the library that nothing speaks against here: " + others + ".\n";
  return text.empty() ? "The library has nothing for this evidence.\n" : text;
}

std::string PlanText(const core::Plan& plan, const skills::MethodCard* card) {
  std::string text = fmt::format("Method: {}\nWhy: {}\n", plan.method, BarredLines(plan.why, 2'000));
  for (const std::string& kernel : plan.kernels) text += "- changes the kernel: " + Quoted(kernel, 120) + "\n";
  for (const std::string& line : plan.evidence) text += "- evidence: " + Quoted(line, 200) + "\n";
  for (const core::Prediction& expected : plan.expected)
    text += fmt::format("- expected: {} {}\n", expected.field, expected.direction < 0 ? "falls" : "rises");
  if (!plan.instructions.empty()) text += "Instructions:\n" + BarredLines(plan.instructions, 12'000);
  if (card != nullptr) text += MethodText({.card = card, .reasons = {}, .unknown = {}}, Detail::kExample);
  return text;
}

Result<std::string> OriginalText(const Situation& at, const core::Candidate& candidate) {
  if (candidate.text == at.original.text) return std::string("The code is the original's.\n");
  WW_ASSIGN(const Listing original, ListEntry(at, core::Candidate{.text = at.original.text}));
  return original.text;
}

Result<Listing> ListEntry(const Situation& at, const core::Candidate& candidate) {
  const core::SourceRef source = at.original.With(candidate.text);
  WW_ASSIGN(core::EntryText entry, core::ReadEntryText(at.evaluator, source, at.spec.entry));
  std::string text = fmt::format("File {}:\n", Quoted(source.file)) + NumberedLines(entry.text);
  for (size_t i = 0; i < std::min(kMaxHeaders, entry.headers.size()); ++i) {
    WW_ASSIGN(const core::EntryText header, core::ReadEntryText(at.evaluator, source, at.spec.entry, entry.headers[i]));
    text += fmt::format("Header {}, which cannot be changed:\n", Quoted(entry.headers[i])) + NumberedLines(header.text);
  }
  return Listing{std::move(entry), std::move(text)};
}

std::string VerdictText(const core::Verdict& verdict) {
  const auto* compile = std::get_if<core::CompileFailed>(&verdict);
  std::string text = compile != nullptr ? compile->log : core::VerdictMessage(verdict);
  if (const auto* faulted = std::get_if<core::Faulted>(&verdict)) {
    const core::Fault& fault = faulted->fault;
    text += fmt::format("\nin kernel {}, block ({}), thread ({})", fault.kernel, fmt::join(fault.block, ", "),
                        fmt::join(fault.thread, ", "));
  }
  if (const auto* wrong = std::get_if<core::WrongResult>(&verdict); wrong != nullptr && wrong->sample)
    for (const core::WrongElement& one : wrong->sample->examples)
      text += fmt::format("\n{} is {}, expected {}", one.element, one.is, one.expected);
  return fmt::format("{}:\n{}", core::VerdictName(verdict), BarredLines(text, kMaxLogBytes));
}

std::string DiagnosisText(const core::Diagnosis& diagnosis) {
  std::string text = fmt::format("{}\nFix: {}", diagnosis.root_cause, diagnosis.fix);
  for (const core::DiagnosedLine& line : diagnosis.lines)
    text += fmt::format("\nat {}:{}{}{}", line.file, line.line, line.text.empty() ? "" : ": ", line.text);
  if (diagnosis.sample && !diagnosis.sample->pattern.empty())
    text += fmt::format("\nthe wrong elements: {}", diagnosis.sample->pattern);
  return BarredLines(text, 4'000);
}

bool QuotesVerdict(std::string_view quote, const core::Verdict& verdict) {
  const std::string words = WordsOf(quote);
  return !words.empty() && WordsOf(VerdictText(verdict)).find(words) != std::string::npos;
}

}  // namespace warpwright::agents
