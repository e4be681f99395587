#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/hash.h"
#include "core/original_remedy.h"
#include "judge/judge_state.h"

namespace warpwright::judge {
namespace {

// The original's accuracy.
void MeasureAccuracy(const OutputLayout& layout, const OutputReference& reference, RecordedOutput& output) {
  if (reference.truth.empty()) return;
  double worst = 0, squares = 0, truth_squares = 0;
  reference.truth.ForEach([&](size_t i) {
    const double t = reference.truth[i], r = core::LoadAsDouble(layout.dtype, reference.bytes.data(), i);
    if (!std::isfinite(t) || !std::isfinite(r) || (!reference.unwritten.empty() && reference.unwritten[i])) return;
    worst = std::max(worst, std::fabs(r - t) / UlpOf(layout.dtype, t));
    squares += (r - t) * (r - t);
    truth_squares += t * t;
  });
  const bool finite = std::isfinite(worst) && std::isfinite(squares) && std::isfinite(truth_squares);
  output.truth = finite ? reference.source : TruthSource::kNone;
  output.max_error_ulp = worst;
  output.rms_error = truth_squares > 0 ? std::sqrt(squares / truth_squares) : 0;
}

RecordedReference MakeReference(const Judge::State& state, const VerifiedCase& verified, const TrialReference& answer) {
  RecordedReference record;
  record.kernel = state.spec.name;
  record.case_name = verified.c->name;
  record.scalars = verified.c->scalars;
  record.variant = verified.own.variant;
  record.seed = verified.own.seed;
  record.source_sha256 = base::Sha256(state.original.text);
  record.spec_sha256 = SpecDigest(state.spec);
  record.manifest_sha256 = state.options.manifest_digest;
  record.toolchain = state.options.toolchain;
  record.device = state.device;
  uint64_t total = 0;
  for (const OutputReference& reference : answer.references) total += reference.bytes.size();
  for (size_t o = 0; o < answer.outputs.size(); ++o) {
    const OutputReference& reference = answer.references[o];
    RecordedOutput output;
    output.name = answer.layouts[o].name;
    output.dtype = answer.layouts[o].dtype;
    output.shape = answer.layouts[o].shape;
    std::vector<std::byte> bytes = Recordable(output.dtype, reference, reference.bytes);
    output.sha256 = base::Sha256(std::span<const std::byte>(bytes));
    if (total <= kMaxWholeBytes) output.whole = std::move(bytes);
    else output.sketch = MakeSketch(output.dtype, bytes);
    MeasureAccuracy(answer.layouts[o], reference, output);
    record.outputs.push_back(std::move(output));
  }
  return record;
}

std::string AccuracyNote(const RecordedReference& record) {
  std::string note;
  for (const RecordedOutput& output : record.outputs)
    note += fmt::format("{}{}: {}", note.empty() ? "" : ", ", output.name,
                        output.truth != TruthSource::kNone
                            ? fmt::format("within {:.1f} ulp of the {}", output.max_error_ulp, Name(output.truth))
                            : "no float64 shadow");
  return note;
}

// Where the cause stands, if that is known; otherwise where the manifest names the kernel.
Error DoesNotRun(const core::KernelSpec& spec, core::Verdict original) {
  Error error{.code = ErrorCode::kConfig,
              .file = kManifestFile,
              .line = spec.line,
              .remedy = core::RemedyForOriginal(original)};
  const auto take = [&](std::string& file, int& line) {
    if (file.empty() || line <= 0) return;
    error.file = std::exchange(file, {});
    error.line = line;
  };
  if (auto* refused = std::get_if<core::Refused>(&original)) {
    error.code = ErrorCode::kUnsupported;  // there is no mistake in it
    take(refused->file, refused->line);
  }
  if (auto* faulted = std::get_if<core::Faulted>(&original)) take(faulted->fault.file, faulted->fault.line);
  error.message = fmt::format("kernel {}: the original does not run: {}", spec.name, core::VerdictMessage(original));
  return error;
}

}  // namespace

Result<RecordReport> Judge::Record() {
  State& state = *state_;
  WW_ASSIGN(const Baseline prepared, state.Prepare(false));
  state.baseline.reset();  // the next Prepare reads what is written here
  if (!core::Passed(prepared.original)) {
    const auto* refused = std::get_if<core::Refused>(&prepared.original);
    if (refused == nullptr || refused->check != core::Check::kToleranceSelfTest)
      return Fail(DoesNotRun(state.spec, prepared.original));
  }
  RecordReport report;
  for (const CaseStatus& status : prepared.cases) {
    CaseRecord& row = report.cases.emplace_back();
    row.case_name = status.name;
    row.note = status.note;
    for (const VerifiedCase& verified : state.verified) {
      if (verified.c->name != status.name) continue;
      WW_ASSIGN(const OracleResult answer, state.oracle.Query(verified.own));
      const auto* reference = std::get_if<std::shared_ptr<const TrialReference>>(&answer);
      if (reference == nullptr)
        return Fail(ErrorCode::kIo, "the original ran before and does not run now: " +
                                        core::VerdictMessage(std::get<core::Verdict>(answer)));
      const RecordedReference record = MakeReference(state, verified, **reference);
      WW_TRY(SaveReference(state.options.repository, record));
      const auto path = ReferencePath(state.options.repository, state.spec.name, status.name);
      row.path = path.lexically_relative(state.options.repository).string() + ".json";
      for (const char* suffix : {".json", ".outputs.safetensors"}) {
        std::error_code ignored;
        const auto size = std::filesystem::file_size(std::filesystem::path(path) += suffix, ignored);
        if (!ignored) row.bytes += size;
      }
      row.recorded = true;
      row.sketched = !record.outputs.empty() && record.outputs.front().sketch.has_value();
      row.note = AccuracyNote(record);
    }
  }
  return report;
}

}  // namespace warpwright::judge
