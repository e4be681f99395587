// unroll_accumulators: a loop that carries a sum, a minimum or a maximum gets several independent accumulators, so that
// an iteration need not wait for the arithmetic of the one before it. The loop's body is unchanged; what it does
// besides accumulating happens in the same order as before.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "rewrite/site.h"
#include "rewrite/transforms.h"
#include "source/features.h"

namespace warpwright::rewrite {
namespace {

struct Candidate {
  source::CountedLoop loop;
  std::vector<source::Accumulator> accumulators;
};

bool IsArithmetic(const source::Accumulator& accumulator, const source::FunctionAnalysis& analysis) {
  const source::VariableInfo* info = analysis.Find(accumulator.symbol);
  const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(info->declaration->cursor)).kind;
  return kind == CXType_Float || kind == CXType_Double || (kind >= CXType_UShort && kind <= CXType_ULongLong) ||
         (kind >= CXType_Short && kind <= CXType_LongLong);
}

std::string UnqualifiedType(const std::string& type) { return type.starts_with("const ") ? type.substr(6) : type; }

// Why this loop cannot be transformed; empty if it can.
std::string Obstacle(const KernelSite& site, const source::CountedLoop& loop, int factor) {
  const source::FunctionAnalysis& analysis = site.analysis();
  if (!loop.declares) return "its variable is declared outside the loop";
  if (loop.down || (loop.relation != "<" && loop.relation != "<=")) return "it does not count upwards to a bound";
  std::string obstacle;
  source::ForEach(*loop.loop, [&](const source::Node& node) {
    if (node.Is(source::NodeKind::kReturn)) obstacle = "it returns";
    if (node.Is(source::NodeKind::kBreak) || node.Is(source::NodeKind::kContinue)) {
      const source::Node* around = node.parent;
      while (around != nullptr && !around->Is(source::NodeKind::kFor) && !around->Is(source::NodeKind::kWhile) &&
             !around->Is(source::NodeKind::kDo) && !around->Is(source::NodeKind::kSwitch))
        around = around->parent;
      if (around == loop.loop && node.Is(source::NodeKind::kBreak)) obstacle = "it breaks off";
    }
    if (node.Is(source::NodeKind::kLambda)) obstacle = "it holds a lambda";
  });
  // The bound and the step are re-evaluated at every iteration of the original.
  for (const source::Node* part : {loop.bound, loop.step}) {
    if (part == nullptr) continue;
    const source::Dependence depends = analysis.DependsOn(*part);
    if (depends.memory || depends.On(loop.variable)) obstacle = "its bound or step may change while it runs";
    source::ForEach(*part, [&](const source::Node& node) {
      const source::VariableInfo* info = node.Is(source::NodeKind::kName) ? analysis.Find(node.symbol) : nullptr;
      if (info == nullptr) return;
      for (const source::Node* write : info->writes)
        if (source::Contains(loop.body(), *write)) obstacle = "its bound or step may change while it runs";
    });
  }
  // The rest of a loop that was unrolled already, which starts where that one ended: too short to be worth it.
  const source::Node& start = source::StripCasts(*loop.start);
  const source::VariableInfo* from = start.Is(source::NodeKind::kName) ? analysis.Find(start.symbol) : nullptr;
  if (from != nullptr && std::any_of(from->writes.begin(), from->writes.end(), [&](const source::Node* write) {
        return write->begin < loop.loop->begin && !source::Contains(*from->declaration, *write);
      }))
    obstacle = "it goes on where another one ended";
  const auto trips = analysis.TripCount(loop);
  if (trips && *trips < 2 * factor) obstacle = fmt::format("it runs {} times only", *trips);
  if (!loop.loop->whole) obstacle = "it is inside a macro";
  return obstacle;
}

// Also not one of `given`, to which it is added.
std::string FreshLocal(const KernelSite& site, const std::string& base, std::set<std::string>& given) {
  std::set<std::string> taken = given;
  for (const source::Token& token :
       source::Lex(site.text.substr(site.function().begin, site.function().end - site.function().begin)))
    taken.insert(std::string(token.text));
  std::string name = base;
  for (int i = 2; taken.contains(name); ++i) name = base + std::to_string(i);
  given.insert(name);
  return name;
}

std::string StepText(const KernelSite& site, const source::CountedLoop& loop, int factor) {
  if (loop.step == nullptr) return std::to_string(factor);
  if (const auto value = site.analysis().Fold(*loop.step); value && loop.step->Is(source::NodeKind::kInteger))
    return std::to_string(*value * factor);
  const std::string text(site.function().Text(*loop.step));
  const bool atom = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
  if (factor == 1) return text;
  return fmt::format("{} * {}", factor, atom ? text : "(" + text + ")");
}

// The parts with "nothing yet": zero, or the accumulator's value if including it twice changes nothing.
std::string Declared(const source::Accumulator& accumulator, const std::string& part, const std::string& lane,
                     int factor) {
  const std::string array = fmt::format("{} {}[{}]", UnqualifiedType(accumulator.type), part, factor);
  if (accumulator.kind == source::Accumulator::Kind::kSum) return array + " = {};\n";
  return fmt::format("{0};\n#pragma unroll\nfor (int {1} = 0; {1} < {2}; ++{1}) {3}[{1}] = {4};\n", array, lane, factor,
                     part, accumulator.name);
}

std::string Combine(const source::Accumulator& accumulator, const std::string& part) {
  if (accumulator.kind == source::Accumulator::Kind::kSum) return fmt::format("{} += {};", accumulator.name, part);
  const char* relation = accumulator.kind == source::Accumulator::Kind::kMaximum ? ">" : "<";
  return fmt::format("if ({0} {1} {2}) {2} = {0};", part, relation, accumulator.name);
}

// The loop's body with other names for the accumulators; two-space units.
std::string Body(const KernelSite& site, const Candidate& candidate, const std::vector<std::string>& parts,
                 const std::string& lane) {
  const source::Node& body = candidate.loop.body();
  Edits edits;
  for (size_t a = 0; a < parts.size(); ++a) {
    const source::VariableInfo* info = site.analysis().Find(candidate.accumulators[a].symbol);
    for (const source::Node* use : info->uses)
      if (source::Contains(body, *use)) edits.Replace(*use, fmt::format("{}[{}]", parts[a], lane));
  }
  const bool block = body.Is(source::NodeKind::kBlock);
  const uint32_t begin = block ? body.begin + 1 : body.begin;
  const uint32_t end = block ? body.end - 1 : static_cast<uint32_t>(site.text.find(';', body.end) + 1);
  std::string text = edits.ApplyWithin(site.text, begin, end).value_or("");
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return Dedented("\n" + text.substr(LineBegin(text, static_cast<uint32_t>(first))), site.unit).substr(1);
}

// `given`: names that loops before this one declared in the same block.
std::string Unrolled(const KernelSite& site, const Candidate& candidate, int factor, bool first,
                     std::set<std::string>& given) {
  const source::CountedLoop& loop = candidate.loop;
  const source::SyntaxFunction& kernel = site.function();
  const auto text = [&](const source::Node& node) { return std::string(kernel.Text(node)); };
  std::set<std::string> inner;
  const std::string base = FreshLocal(site, loop.name + "_base", given), lane = FreshLocal(site, "u", inner);
  std::vector<std::string> parts;
  std::string code;
  if (first)
    code += fmt::format(
        "// {} independent accumulators: an iteration does not wait for the arithmetic of the one before.\n", factor);
  for (const source::Accumulator& accumulator : candidate.accumulators) {
    parts.push_back(FreshLocal(site, accumulator.name + "_part", given));
    code += Declared(accumulator, parts.back(), lane, factor);
  }
  const std::string type = UnqualifiedType(loop.type), bound = text(*loop.bound);
  const std::string step = StepText(site, loop, 1);
  code += fmt::format("{} {} = {};\n", type, base, text(*loop.start));
  code += fmt::format("for (; {0} + {1} {2} {3}; {0} += {4}) {{\n", base, StepText(site, loop, factor - 1),
                      loop.relation, bound, StepText(site, loop, factor));
  code += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", lane, factor);
  const std::string offset =
      loop.step == nullptr
          ? lane
          : fmt::format("{} * {}", lane, step.find(' ') == std::string::npos ? step : "(" + step + ")");
  code += fmt::format("    const {} {} = {} + {};\n", type, loop.name, base, offset);
  code += Indented(Body(site, candidate, parts, lane), "    ", "  ") + "\n  }\n}\n";
  // The remainder, with the original body.
  std::string rest(site.text.substr(loop.loop->begin, loop.body().begin - loop.loop->begin));
  const size_t start = loop.start->begin - loop.loop->begin;
  rest.replace(start, loop.start->end - loop.start->begin, base);
  const bool block = loop.body().Is(source::NodeKind::kBlock);
  const uint32_t end = block ? loop.body().end : static_cast<uint32_t>(site.text.find(';', loop.body().end) + 1);
  code += Dedented(rest + std::string(site.text.substr(loop.body().begin, end - loop.body().begin)), site.unit) + "\n";
  code += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {{\n", lane, factor);
  for (size_t a = 0; a < parts.size(); ++a)
    code += "  " + Combine(candidate.accumulators[a], fmt::format("{}[{}]", parts[a], lane)) + "\n";
  return code + "}";
}

// From the pragma above the loop, if there is one, to the end of its body.
source::TextRange Extent(const KernelSite& site, const source::CountedLoop& loop) {
  uint32_t begin = loop.loop->begin;
  const uint32_t line = LineBegin(site.text, begin);
  if (loop.loop->unrolled && line > 0) {
    const uint32_t above = LineBegin(site.text, line - 1);
    if (site.text.substr(above, line - above).find("#pragma") != std::string_view::npos) begin = above;
  }
  const bool block = loop.body().Is(source::NodeKind::kBlock);
  const uint32_t end = block ? loop.body().end : static_cast<uint32_t>(site.text.find(';', loop.body().end) + 1);
  return {begin, end};
}

core::RewriteOutcome ApplyUnrollAccumulators(const source::Ast& ast, const core::RewriteRequest& request) {
  const int factor = IntegerParameter(request, "factor");
  SiteOutcome found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  const source::FunctionAnalysis& analysis = site.analysis();

  std::vector<Candidate> candidates;
  core::RewriteRefusal why =
      Refuse("no counted loop carries a sum, a minimum or a maximum", source::ast::Line(site.function().cursor));
  for (const source::Node* node : source::Collect(*site.function().body, source::NodeKind::kFor)) {
    std::vector<source::Accumulator> accumulators = source::AccumulatorsOf(analysis, *node);
    std::erase_if(accumulators, [&](const source::Accumulator& a) {
      return a.kind == source::Accumulator::Kind::kProduct || !IsArithmetic(a, analysis);
    });
    const auto loop = analysis.Counted(*node);
    if (accumulators.empty() || !loop) continue;
    if (const std::string obstacle = Obstacle(site, *loop, factor); !obstacle.empty()) {
      why = Refuse(fmt::format("the loop cannot be unrolled: {}", obstacle), node->line);
      continue;
    }
    candidates.push_back({*loop, std::move(accumulators)});
  }
  if (candidates.empty()) return why;
  // Of loops in each other the inner one: its iterations are the many.
  std::erase_if(candidates, [&, all = candidates](const Candidate& outer) {
    return std::any_of(all.begin(), all.end(), [&](const Candidate& inner) {
      return inner.loop.loop != outer.loop.loop && source::Contains(*outer.loop.loop, *inner.loop.loop);
    });
  });

  Edits inside;
  bool first = true;
  std::map<const source::Node*, std::set<std::string>> given;  // by the block around the loop
  for (const Candidate& candidate : candidates) {
    const source::TextRange extent = Extent(site, candidate.loop);
    const std::string indent = IndentAt(site.text, candidate.loop.loop->begin);
    const source::Node* parent = candidate.loop.loop->parent;
    std::string code = Unrolled(site, candidate, factor, first, given[parent]);
    first = false;
    if (!parent->Is(source::NodeKind::kBlock)) code = "{\n" + Indented(code, "  ", "  ") + "\n}";
    const bool at_margin = extent.begin != candidate.loop.loop->begin;
    inside.Replace(extent.begin, extent.end, Indented(code, indent, site.unit, at_margin));
  }
  Edits edits;
  const source::SyntaxFunction& kernel = site.function();
  const std::string name = NewKernelName(ast, site, "unrolled");
  if (!site.shared) {
    edits = inside;
  } else {
    const auto body = inside.ApplyWithin(site.text, kernel.body->begin, kernel.body->end);
    if (!body) return Refuse("the loops overlap in the text", candidates[0].loop.loop->line);
    InsertKernel(site, name, "", HeadWithName(kernel, name) + " " + Dedented(*body, site.unit), edits);
  }
  std::vector<std::string> notes = {
      fmt::format("{} independent accumulators in {} loop{}; sums are added in another order", factor,
                  candidates.size(), candidates.size() == 1 ? "" : "s")};
  if (name != kernel.name)
    notes.push_back(fmt::format("{} is kept for its other callers; {} is new", kernel.name, name));
  return Finish(ast, edits, std::move(notes));
}

}  // namespace

Transform UnrollAccumulatorsTransform() {
  return {.id = "unroll_accumulators", .parameters = {{"factor", {"4", "2", "8"}}}, .apply = ApplyUnrollAccumulators};
}

}  // namespace warpwright::rewrite
