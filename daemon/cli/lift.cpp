#include "app/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "core/computation_digest.h"
#include "core/computation_inline.h"
#include "core/computation_json.h"
#include "core/computation_latex.h"
#include "core/computation_text.h"
#include "report/formula.h"
#include "report/markdown.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = size_t{1} << 20;  // of a formula in Markdown

core::Computation Shown(const core::Lifted& lifted, bool full) {
  return full ? lifted.computation : core::Inlined(lifted.computation);
}

json ToJson(const app::LiftedKernel& kernel, bool full) {
  json j = {{"kernel", kernel.spec.name}, {"file", kernel.spec.file}, {"entry", kernel.spec.entry}};
  if (const auto* not_lifted = std::get_if<core::NotLifted>(&kernel.outcome)) {
    j.update({{"outcome", "not_lifted"},
              {"blocker", not_lifted->blocker},
              {"message", not_lifted->message},
              {"executed", not_lifted->executed}});
    return j;
  }
  const core::Lifted& lifted = *kernel.lifted();
  const core::Computation shown = Shown(lifted, full);
  const auto normal = core::Normalize(lifted.computation);
  j.update({{"outcome", "lifted"},
            {"shapes", lifted.shapes},
            {"verified", lifted.verified},
            {"seconds", lifted.seconds},
            {"text", core::ComputationText(shown)},
            {"headline", core::Headline(lifted.computation)},
            {"latex", core::ComputationLatex(shown)},
            {"assumptions", lifted.computation.assumptions},
            {"notes", lifted.notes},
            {"digest", normal ? json(normal->digest) : json(nullptr)},
            {"computation", base::ParseJson(core::EncodeComputation(lifted.computation)).value_or(json(nullptr))}});
  return j;
}

// "  " before every line; control characters made visible.
std::string Indented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += "  " + base::Printable(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

std::string AsText(const app::LiftedKernel& kernel, bool full) {
  const std::string title = fmt::format("{} ({}): ", kernel.spec.name, kernel.spec.entry);
  if (const auto* not_lifted = std::get_if<core::NotLifted>(&kernel.outcome))
    return title + "not lifted: " + base::Printable(not_lifted->blocker) + "\n" + Indented(not_lifted->message);
  const report::Formula formula = report::FormulaOf(kernel.outcome, !full);
  const core::Lifted& lifted = *kernel.lifted();
  std::string out =
      title + fmt::format("the same at {} shape{}, {}\n", lifted.shapes, lifted.shapes == 1 ? "" : "s",
                          lifted.verified ? "verified at a further one" : "not verified at a further one");
  out += Indented(formula.text);
  for (const std::string& assumption : formula.assumptions) out += "  # " + base::Printable(assumption) + "\n";
  for (const std::string& note : lifted.notes) out += "  note: " + base::Printable(note) + "\n";
  return out;
}

std::string AsLatex(const app::LiftedKernel& kernel, bool full) {
  const std::string title = base::Printable(kernel.spec.name);
  if (const core::Lifted* lifted = kernel.lifted())
    return fmt::format("% {}\n{}\n", title, core::ComputationLatex(Shown(*lifted, full)));
  const auto& not_lifted = std::get<core::NotLifted>(kernel.outcome);
  return fmt::format("% {}: not lifted: {}: {}\n", title, base::CleanText(not_lifted.blocker, 200),
                     base::CleanText(not_lifted.message, 2000));
}

std::string AsMarkdown(const app::LiftedKernel& kernel, bool full) {
  const report::Formula formula = report::FormulaOf(kernel.outcome, !full);
  const std::string title = "### " + report::EscapeMarkdown(kernel.spec.name) + "\n\n";
  if (!formula.why_not.empty()) return title + "Not lifted: " + report::EscapeMarkdown(formula.why_not) + ".\n";
  return title + report::FormulaMarkdown(formula, report::FormulaStyle::kMathIfShort, kMaxBytes);
}

std::string Rendered(const app::LiftedKernel& kernel, const LiftOptions& options) {
  switch (options.format) {
    case LiftFormat::kText: return AsText(kernel, options.full);
    case LiftFormat::kLatex: return AsLatex(kernel, options.full);
    case LiftFormat::kMarkdown: return AsMarkdown(kernel, options.full);
    case LiftFormat::kJson: break;  // one object over all
  }
  return {};
}

}  // namespace

std::string_view Name(LiftFormat format) {
  switch (format) {
    case LiftFormat::kText: return "text";
    case LiftFormat::kLatex: return "latex";
    case LiftFormat::kJson: return "json";
    case LiftFormat::kMarkdown: return "markdown";
  }
  return "?";
}

Result<int> RunLift(const LiftOptions& options) {
  const bool as_json = options.common.json || options.format == LiftFormat::kJson;
  WW_ASSIGN(const Session session, Session::Open(options.common));
  worker::WorkerEvaluator worker = session.MakeWorker();
  Progress progress(options.common.quiet || as_json);
  bool first = true;
  const auto print = [&](const app::LiftedKernel& kernel) {
    if (as_json) return;
    fmt::print("{}{}", first ? "" : "\n", Rendered(kernel, options));
    std::fflush(stdout);
    first = false;
  };
  const app::JudgingServices services{
      .trusted = worker, .toolchain = session.Toolchain(), .progress = progress.Callbacks()};
  WW_ASSIGN(const auto kernels, app::LiftKernels(session.workspace(), services, print));
  if (as_json) {
    json list = json::array();
    for (const app::LiftedKernel& kernel : kernels) list.push_back(ToJson(kernel, options.full));
    std::puts(base::DumpJson({{"device", options.common.device}, {"kernels", list}}, 2).c_str());
  }
  const bool all =
      std::all_of(kernels.begin(), kernels.end(), [](const app::LiftedKernel& kernel) { return kernel.lifted(); });
  return all ? kExitDone : kExitUnverified;
}

}  // namespace warpwright::cli
