#include "skills/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "core/evidence.h"
#include "core/quantity.h"

namespace warpwright::skills {
namespace {

struct Placeholder {
  std::string_view name;
  bool before = false, after = false, is = false;  // none: malformed
};
struct Piece {
  std::string_view text;  // before the placeholder
  std::optional<Placeholder> placeholder;
};

// nullopt: braces do not match.
std::optional<std::vector<Piece>> ParseSentence(std::string_view sentence) {
  std::vector<Piece> pieces;
  while (true) {
    const size_t open = sentence.find_first_of("{}");
    if (open == std::string_view::npos) break;
    const size_t close = sentence.find_first_of("{}", open + 1);
    if (sentence[open] == '}' || close == std::string_view::npos || sentence[close] == '{') return std::nullopt;
    const std::string_view inside = sentence.substr(open + 1, close - open - 1);
    const size_t dot = inside.find('.');
    const std::string_view side = dot == std::string_view::npos ? std::string_view() : inside.substr(dot + 1);
    pieces.push_back({sentence.substr(0, open),
                      Placeholder{inside.substr(0, dot), side == "before", side == "after", side == "is"}});
    sentence.remove_prefix(close + 1);
  }
  pieces.push_back({sentence, std::nullopt});
  return pieces;
}

// A sentence in turns: what is always said, and what stands in brackets. nullopt: they do not match.
struct Part {
  std::string text;
  bool optional = false;
};
std::optional<std::vector<Part>> PartsOf(std::string_view sentence) {
  std::vector<Part> parts;
  for (bool optional = false;; optional = !optional) {
    const size_t end = sentence.find_first_of("[]");
    parts.push_back({std::string(sentence.substr(0, end)), optional});
    if (end == std::string_view::npos) return optional ? std::nullopt : std::optional(std::move(parts));
    if ((sentence[end] == ']') != optional) return std::nullopt;
    sentence.remove_prefix(end + 1);
  }
}

std::string Joined(const std::vector<Part>& parts, const std::function<std::string(const Part&)>& text) {
  std::string out;
  for (const Part& part : parts) out += text(part);
  return out;
}

// "" if one of its facts is not known.
std::string Filled(const std::string& part, const std::map<std::string, double>& facts) {
  const auto pieces = ParseSentence(part);
  if (!pieces) return {};
  std::string out;
  for (const Piece& piece : *pieces) {
    out += piece.text;
    if (!piece.placeholder) continue;
    const auto found = facts.find(std::string(piece.placeholder->name));
    if (found == facts.end() || !(found->second > 0)) return {};
    out += core::FormatQuantity(found->second, core::UnitOf(piece.placeholder->name));
  }
  return out;
}

std::string CheckOptionalPart(const std::string& part) {
  const auto pieces = ParseSentence(part);
  if (!pieces) return "its braces do not match";
  bool has_fact = false;
  for (const Piece& piece : *pieces) {
    if (!piece.placeholder) continue;
    has_fact = true;
    if (!piece.placeholder->is)
      return fmt::format("'{{{}}}' in brackets does not end with .is", piece.placeholder->name);
    if (core::FindEvidenceField(piece.placeholder->name) == nullptr)
      return fmt::format("'{}' is no field of the evidence", piece.placeholder->name);
  }
  return has_fact ? "" : "brackets without a {name.is}";
}

}  // namespace

std::string CheckCause(std::string_view text, const std::vector<ExpectedChange>& expected) {
  const auto parts = PartsOf(text);
  if (!parts) return "its brackets do not match";
  for (const Part& part : *parts)
    if (std::string wrong = part.optional ? CheckOptionalPart(part.text) : ""; !wrong.empty()) return wrong;
  const std::string sentence = Joined(*parts, [](const Part& part) { return part.optional ? "" : part.text; });
  const auto pieces = ParseSentence(sentence);
  if (!pieces) return "its braces do not match";
  std::vector<Placeholder> cited;
  for (const Piece& piece : *pieces) {
    if (!piece.placeholder) continue;
    const Placeholder& here = *piece.placeholder;
    if (here.before == here.after) return fmt::format("'{{{}}}' ends with neither .before nor .after", here.name);
    if (std::none_of(expected.begin(), expected.end(), [&](const auto& change) { return change.name == here.name; }))
      return fmt::format("'{}' is not one of the card's expected changes", here.name);
    const auto known = std::find_if(cited.begin(), cited.end(), [&](const auto& c) { return c.name == here.name; });
    Placeholder& all = known == cited.end() ? cited.emplace_back(Placeholder{here.name, false, false}) : *known;
    all.before = all.before || here.before;
    all.after = all.after || here.after;
  }
  if (cited.empty()) return "it is bound to no figure: no {name.before} and {name.after}";
  for (const Placeholder& all : cited)
    if (!all.before || !all.after)
      return fmt::format("it gives '{}' {} only, which shows no change", all.name, all.before ? "before" : "after");
  if (sentence.starts_with('{')) return "it begins with a figure, which is no sentence for a reader";
  return {};
}

bool ExplainsTheGain(const std::vector<PredictionResult>& predictions) {
  const auto held = std::count_if(predictions.begin(), predictions.end(), [](const auto& p) { return p.held; });
  return 2 * static_cast<size_t>(held) > predictions.size();
}

std::vector<SupportedCause> SupportedCauses(const MethodCard& card, const std::vector<PredictionResult>& predictions,
                                            const std::map<std::string, double>& facts) {
  std::vector<SupportedCause> causes;
  if (!ExplainsTheGain(predictions)) return causes;
  for (const std::string& text : card.cause) {
    const auto parts = PartsOf(text);
    if (!parts) continue;
    const std::string sentence =
        Joined(*parts, [&](const Part& part) { return part.optional ? Filled(part.text, facts) : part.text; });
    const auto pieces = ParseSentence(sentence);
    if (!pieces) continue;
    SupportedCause cause;
    bool supported = true;
    for (const Piece& piece : *pieces) {
      cause.sentence += piece.text;
      if (!piece.placeholder) continue;
      const std::string name(piece.placeholder->name);
      const auto found =
          std::find_if(predictions.begin(), predictions.end(), [&](const auto& p) { return p.name == name; });
      supported = supported && found != predictions.end() && found->held;
      if (!supported) break;
      cause.sentence +=
          core::FormatQuantity(piece.placeholder->before ? found->before : found->after, core::UnitOf(name));
      if (std::find(cause.cites.begin(), cause.cites.end(), name) == cause.cites.end()) cause.cites.push_back(name);
    }
    if (supported) causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace warpwright::skills
