// Numbers and short names in human-readable form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.h"

namespace warpwright::report {

std::string FormatMicroseconds(double us);                    // "61.1 µs", "5.42 ms": three digits
std::string FormatTimes(const std::vector<double>& us);       // "249 → 221 → 188 µs"
std::string Effort(const memory::TaskCounts& counts);         // "8 rounds, 37 attempts (35 evaluated)"
std::string SearchInOneLine(const Explanation& explanation);  // "2 of 24 attempts taken: 249 → 221 → 188 µs"
CounterMove MoveOf(std::string_view counter, double before, double after, bool expected_up);
// Why a step is faster: its causes, or that they are not known and what that is based on.
std::string CauseText(const TakenStep& step);
// "Why it is faster" heads the steps of an improved result alone: of another they are the best that the search found.
std::string_view StepsHeading(const Explanation& explanation);
// Of a carried result, above its steps; empty of others.
std::string_view CarriedNote(const Explanation& explanation);
// The original's time where the search was, so that a gain that is told of it is a time; 0: not known, as where the
// result was carried to another base.
double SearchedFromUs(const Explanation& explanation);
std::string StepTimes(const Explanation& explanation, const TakenStep& step);  // ", 100 → 65.9 µs"; "" if not known
// Each plan's reason with the first two facts that it cites in parentheses, in words and without their numbers; once
// for plans one after the other that cite the same, as the diagnosis for those that share it.
std::vector<std::string> PlanLines(const Explanation& explanation);
std::string_view SpeedupHeading(const Explanation& explanation);  // of a table of cases
// " ¹ ²" behind a case's name, and what they mean, below the table; "" if there are none.
std::string CaseMarks(const CaseRow& row);
std::string CaseNotes(const std::vector<const CaseRow*>& rows);
std::string RoundCell(const AttemptRow& attempt);  // "2"; "–" where the round does not count
std::string OutcomeWords(AttemptOutcome outcome);  // "wrong result"
// "new base", "verified, not taken", "wrong result", "same as round 1"
std::string VerdictWords(const AttemptRow& attempt);
// What is said of attempt `index`; "as above" where the one before says the same, as settings of one method do.
std::string_view NoteOf(const std::vector<AttemptRow>& attempts, size_t index);
// "optimizer, question 3fa2b1"; empty: no language model wrote it.
std::string WriterOf(const AttemptRow& attempt);
// "1.93x (1.91 to 1.95)", "0.96x (0.95 to 0.98), slower"
std::string SpeedupWords(const CaseRow& row);
bool IsSlower(const CaseRow& row);
// The output that used the largest share of its allowed error, for all: "2.4e-07 / 9.5e-07", "bit-identical", "–".
std::string ErrorWords(const CaseRow& row);
// Of cells with numbers, which break before and behind them, not within: on a phone two lines are narrow enough.
std::string Breakable(std::string_view text);
std::string Unbroken(std::string_view text);            // no line breaks at its spaces and hyphens
bool ReducedShapesRan(const Explanation& explanation);  // the check of large cases at smaller sizes
// "The results of a, b were not compared at full size.": the cases of which the gain is said, but not that they are
// right; empty if there are none. `quoted` writes a name for the place where it stands.
std::string NotCompared(const Explanation& explanation, std::string (*quoted)(std::string_view name));
std::string PlainNotCompared(const Explanation& explanation);                 // for plain text
bool WeightsDiffer(const Explanation& explanation);                           // of the cases that count
std::string WeightWords(const Explanation& explanation, const CaseRow& row);  // ", weight 2"; "" if none differs
std::string FormatError(double error);                                        // "1.2e-07"
std::string FormatInterval(const GainInterval& interval);                     // "1.58x to 1.70x"
// "6.25x faster, modelled, on H200 (1.00 ms → 160 µs)": the one form of an improved result's title.
std::string GainHeadline(const Explanation& e, bool with_times = true);
// "perf(softmax): 1.64x faster on H200 (100 → 61.1 µs)": of a pull request and of its commit, at most 72 characters.
std::string ChangeTitle(const Explanation& explanation);
std::string ChipName(const Explanation& explanation);  // "H200"
// Which roofline it is, as a sentence; with the share of the other one where they differ.
std::string RooflineOfFormula(const Explanation& explanation);
// "load_sectors_per_request" as "load sectors per request"; a trailing "_pct" or "_us" is left to the unit.
std::string FieldWords(std::string_view field);
// Why warps did not run, by the profiler's name: "long_scoreboard" as "waiting for global memory".
std::string StallWords(std::string_view reason);
std::string Plural(int count, std::string_view one, std::string_view many = {});  // "1 round", "8 rounds"
std::string Sentence(std::string text);                                           // ends with a full stop
// Lines of at most `width` columns, those after the first indented, with a newline at the end. Words are kept whole.
std::string Wrap(const std::string& text, size_t width, const std::string& first_indent, const std::string& indent);

}  // namespace warpwright::report
