#include "report/review_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/verdict.h"

namespace warpwright::report {
namespace {

enum class Where { kAnywhere, kGpu };
struct KnownCheck {
  core::Check check;
  std::string_view meaning, why_not;  // what is known where no note says otherwise; empty: nothing is
  Where where = Where::kAnywhere;
};
constexpr KnownCheck kChecks[] = {
    {core::Check::kGuardBands, "nothing is written or read outside the buffers", ""},
    {core::Check::kInputHash, "inputs are not modified", ""},
    {core::Check::kModuleState, "no result depends on what an earlier call left", ""},
    {core::Check::kUnwrittenOutput,
     "every output element is written, shown by two runs over complementary poison values", ""},
    {core::Check::kDeterminism, "repeated runs agree bit for bit, unless the original's do not", ""},
    {core::Check::kComparison, "every element against the original's, within its error budget", ""},
    {core::Check::kBuildDependent, "nothing new depends on the architecture or the compiler", ""},
    {core::Check::kHostCode,
     "its host code only computes, prints and calls the CUDA runtime, or what the original does", ""},
    {core::Check::kPtxRules, "no narrower types than in the original's code", ""},
    {core::Check::kRecordedReference, "the outputs recorded in the repository", "none are recorded for these cases"},
    {core::Check::kSecretSeed, "inputs drawn after the candidate was compiled", ""},
    {core::Check::kPointerOffset, "pointers with the minimum alignment that the manifest promises",
     "the manifest promises no other alignment"},
    {core::Check::kInPlace, "an output in the place of an input, where the original computes the same there",
     "the original computes something else there, or no two buffers have the same shape"},
    {core::Check::kDistributions, "inputs of other distributions", "the inputs have one distribution only"},
    {core::Check::kExactIntegers, "inputs for which every sum is exact", "does not apply to these arguments"},
    {core::Check::kNeedle, "one large value among small ones", "does not apply to these arguments"},
    {core::Check::kScaleLadder, "magnitudes over the whole range of the type", "does not apply to these arguments"},
    {core::Check::kSpecialValues, "NaN, infinities, zeros of both signs, subnormals",
     "does not apply to these arguments"},
    {core::Check::kOddShape, "sizes n-1, n+1, a prime, 1, less than a warp, and two secret ones",
     "no size can be changed independently"},
    {core::Check::kOtherScalars, "other values of the floating-point scalars", "there are none that could differ"},
    {core::Check::kLargeCase, "cases too large for a full comparison are written to", "all cases are compared in full"},
    {core::Check::kReducedShape, "those cases, with one dimension at a time reduced to a comparable size",
     "all cases are compared in full"},
    {core::Check::kEquivalence,
     "what it computes, as expressions over symbolic inputs at small shapes, is what the original computes", ""},
    {core::Check::kBytesRead, "the inputs that the original reads are read", ""},
    {core::Check::kDeadCode, "every line that was added runs: in the cases, or as a remainder with other sizes", ""},
    {core::Check::kTimedOutput, "outputs of the timed runs, and paired timing in a second process with other seeds",
     "needs a GPU", Where::kGpu},
    {core::Check::kHostTime, "no more host time per call than the kernels gain", ""},
    {core::Check::kRooflineFloor, "not faster than the chip can move the bytes", "needs a GPU", Where::kGpu},
};

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool IsForLargeCases(core::Check check) {
  return check == core::Check::kLargeCase || check == core::Check::kReducedShape;
}

// Why a check did not run. What is said without a note must hold for this result.
std::string WhyNot(const KnownCheck& check, const std::vector<std::string>& notes, const Explanation& e) {
  const std::string prefix = std::string(Name(check.check)) + ": ";
  std::string why(check.why_not);
  const bool all_compared =
      std::none_of(e.cases.begin(), e.cases.end(), [](const CaseRow& row) { return row.errors.empty(); });
  if ((check.where == Where::kGpu && !e.modelled) || (IsForLargeCases(check.check) && !all_compared)) why.clear();
  for (const std::string& note : notes)
    if (note.starts_with(prefix + "not tested")) why = note.substr(prefix.size());
  return why.empty() ? "did not run" : why;
}

void AddOnce(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

double NumberAfter(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = text.substr(at + words.size());
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// In the format of judge/agreement.h.
bool TakeAgreement(std::string_view note, Explanation& e) {
  if (!TakePrefix(note, "agreement: ")) return false;
  for (CaseRow& row : e.cases) {
    std::string_view rest = note;
    if (!TakePrefix(rest, row.name + ": ")) continue;
    OutputError error;
    if (rest.ends_with(" is bit-identical")) {
      error.output = rest.substr(0, rest.size() - std::string_view(" is bit-identical").size());
      error.identical = true;
    } else {
      error.output = rest.substr(0, rest.find(" is off by at most "));
      error.error = NumberAfter(rest, " is off by at most ");
      error.allowed = NumberAfter(rest, " where ");
    }
    row.errors.push_back(std::move(error));
    return true;
  }
  return true;  // for a case that is not shown
}

void Erase(std::string& text, std::string_view begin, std::string_view end) {
  const size_t at = text.find(begin);
  const size_t last = at == std::string::npos ? at : text.find(end, at + begin.size());
  if (last != std::string::npos) text.erase(at, last + end.size() - at);
}

// How much the check `equivalence` compared; it stands in the check's row.
constexpr std::string_view kEqual = " shapes are equal: ";
bool IsExtentOfEquivalence(std::string_view note) {
  return note.starts_with(Name(core::Check::kEquivalence)) && note.find(kEqual) != std::string_view::npos;
}

// "needle: not tested with gpt2: why" as "needle with gpt2: why"; and where the original refuses those sizes itself,
// its own words about that are left out.
std::string Untested(std::string note) {
  constexpr std::string_view kWords = ": not tested with ";
  if (const size_t at = note.find(kWords); at != std::string::npos) note.replace(at, kWords.size(), " with ");
  constexpr std::string_view kWhole = ": not tested: ";
  if (const size_t at = note.find(kWhole); at != std::string::npos) note.replace(at, kWhole.size(), ": ");
  Erase(note, " (odd shape of ", ")");
  Erase(note, " refused by ", ":");
  Erase(note, " (it says: ", ")");
  // A place that is named twice.
  if (const size_t place = note.rfind(" ("); place != std::string::npos && note.ends_with(')'))
    if (note.find(note.substr(place + 2, note.size() - place - 3)) < place) note.erase(place);
  return note;
}

// "odd-shape with N=0: why" and "odd-shape with M=0: why" are one line, with both sizes.
void AddUntested(std::string text, std::vector<std::string>& all) {
  constexpr size_t kLong = 300;
  const size_t with = text.find(" with "), colon = with == std::string::npos ? with : text.find(": ", with);
  if (colon != std::string::npos) {
    const std::string head = text.substr(0, with + 6), why = text.substr(colon);
    for (std::string& other : all) {
      if (!other.starts_with(head) || !other.ends_with(why)) continue;
      const std::string more = " and more";
      const std::string sizes =
          other.size() - why.size() > kLong ? more : " and " + text.substr(head.size(), colon - head.size());
      if (!std::string_view(other).substr(0, other.size() - why.size()).ends_with(more))
        other.insert(other.size() - why.size(), sizes);
      return;
    }
  }
  all.push_back(std::move(text));
}

}  // namespace

std::vector<CheckRow> CheckTable(const std::vector<core::CheckName>& ran, const std::vector<std::string>& notes,
                                 const Explanation& e) {
  std::vector<CheckRow> rows;
  for (const KnownCheck& check : kChecks) {
    CheckRow row{std::string(Name(check.check)),
                 std::string(check.meaning),
                 std::find(ran.begin(), ran.end(), core::CheckName(check.check)) != ran.end(),
                 {}};
    if (!row.ran) row.why_not = WhyNot(check, notes, e);
    for (const auto& note : notes)
      if (check.check == core::Check::kEquivalence && row.ran && IsExtentOfEquivalence(note))
        row.meaning += "; " + note.substr(row.name.size() + 2);
    rows.push_back(std::move(row));
  }
  for (const core::CheckName& check : ran)
    if (std::none_of(rows.begin(), rows.end(), [&](const CheckRow& row) { return row.name == check.text(); }))
      rows.push_back({check.text(), "", true, ""});
  return rows;
}

void SortNotes(const std::vector<std::string>& notes, Explanation& e) {
  for (const auto& note : notes) {
    if (TakeAgreement(note, e) || IsExtentOfEquivalence(note)) continue;
    std::string_view text = note;
    if (TakePrefix(text, "review: ")) e.review.emplace_back(text);
    else if (TakePrefix(text, core::kCountersNote)) AddOnce(e.counter_notes, std::string(text));
    else if (TakePrefix(text, "timing: ")) e.timing_notes.emplace_back(text);
    else if (note.find("not tested") != std::string::npos || note.starts_with("large-case: "))
      AddUntested(Untested(note), e.not_tested);
    else e.review.push_back(note);
  }
}

namespace {

constexpr std::string_view kReordered =
    "Sums are added in a different order than before, so the last bits of a floating-point result may differ.";

// "a; sums are added in another order" without the clause that mentions an order.
std::string WithoutOrder(const std::string& text) {
  std::string out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find("; ", at), text.size());
    const std::string clause = text.substr(at, end - at);
    if (clause.find("another order") == std::string::npos) out += (out.empty() ? "" : "; ") + clause;
    at = end + 2;
  }
  return out;
}

}  // namespace

void SaySameBits(Explanation& e) {
  for (std::string& precondition : e.preconditions)
    if (precondition == kReordered)
      precondition = "Partial sums are grouped anew; for inputs that were not compared, the last bits may differ.";
  for (TakenStep& step : e.steps) step.does = WithoutOrder(step.does);
  for (AttemptRow& attempt : e.attempts)
    if (attempt.accepted) attempt.message = WithoutOrder(attempt.message);
}

std::vector<std::string> Preconditions(std::string_view method, std::string_view message) {
  std::vector<std::string> found;
  const auto has = [&](std::string_view words) { return message.find(words) != std::string_view::npos; };
  if (method == "restrict_readonly")
    found.push_back(
        fmt::format("{} must not overlap anything that the kernel writes: __restrict__ promises it to the compiler.",
                    message.substr(0, message.find(':'))));
  if (has("another order") || has("combined by")) found.emplace_back(kReordered);
  if (const size_t at = message.find("__launch_bounds__("); at != std::string_view::npos)
    found.push_back(fmt::format("The kernel cannot be launched with more than {} threads per block.",
                                message.substr(at + 18, message.find(')', at) - at - 18)));
  if (method == "histogram_privatize")
    found.emplace_back(
        "Counts are accumulated in shared memory first; the number of bins determines how much of it is used.");
  if (has("is kept for its other callers"))
    found.emplace_back("The old kernel is kept for its other callers: both must be kept in sync.");
  return found;
}

}  // namespace warpwright::report
