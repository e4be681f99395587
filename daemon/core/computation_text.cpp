#include "core/computation_text.h"

#include <cmath>

#include "core/computation_inline.h"
#include "core/formula_writer.h"

namespace warpwright::core {
namespace {

class TextWriter final : public FormulaWriter {
 public:
  using FormulaWriter::FormulaWriter;

 protected:
  std::string Identifier(const std::string& name) const override { return name; }
  std::string VariableName(char letter, size_t number) const override { return letter + std::to_string(number); }
  std::string Number(double value) const override { return Shortest(value); }
  std::string Times() const override { return "*"; }
  std::string Range(const std::string& variable, const std::string& extent) const override {
    return variable + "<" + extent;
  }
  std::string Ellipsis() const override { return "..."; }
  std::string Parenthesized(const std::string& text) const override { return "(" + text + ")"; }
  std::string Indexed(const std::string& name, const std::vector<std::string>& at) const override {
    return at.empty() ? name : name + "[" + Joined(at, ",") + "]";
  }
  std::string Divided(const std::string& a, const std::string& b) const override { return a + "/" + b; }
  std::string Quotient(const std::string& a, const std::string& b) const override { return a + "/" + b; }
  std::string CeilDivided(const std::string& a, const std::string& b) const override {
    return "ceil_div(" + a + "," + b + ")";
  }
  std::string Remainder(const std::string& a, const std::string& b) const override { return a + "%" + b; }
  std::string Divides(const std::string& a, const std::string& b) const override { return b + " % " + a + " == 0"; }
  std::string FunctionCall(const std::string& name, const std::vector<std::string>& args) const override {
    return name + "(" + Joined(args, ", ") + ")";
  }
  Piece Powered(const Piece& base, size_t exponent) const override {
    return {.text = Wrapped(base, Level::kAtom) + "^" + std::to_string(exponent), .level = Level::kPower};
  }
  Piece Product(const std::vector<Piece>& over, const std::vector<Piece>& under) const override {
    std::vector<std::string> above, below;
    for (const auto& factor : over) above.push_back(Wrapped(factor, Level::kProduct));
    for (const auto& factor : under)
      below.push_back(Wrapped(factor, under.size() == 1 ? Level::kPower : Level::kProduct));
    std::string text = Joined(above, " * ");
    if (!below.empty()) text += " / " + (below.size() == 1 ? below[0] : Parenthesized(Joined(below, " * ")));
    return {.text = std::move(text), .level = Level::kProduct};
  }
  std::string Reduction(ReduceOp op, const std::string& ranges, const std::string& conditions,
                        const std::string& index) const override {
    std::string name(core::Name(op));
    if (name.ends_with("_first")) name.resize(name.size() - 6);
    std::string text = name + "_{" + ranges + (conditions.empty() ? "" : " where " + conditions) + "}";
    return index.empty() ? text : text + "[" + index + "]";
  }
  Piece Applied(Function function, const std::vector<Piece>& args) const override {
    std::vector<std::string> texts;
    for (const auto& arg : args) texts.push_back(Wrapped(arg, Level::kSelect));
    return {.text = FunctionCall(std::string(core::Name(function)), texts)};
  }
  std::string Relation(Comparison op) const override {
    switch (op) {
      case Comparison::kLess: return " < ";
      case Comparison::kLessEqual: return " <= ";
      case Comparison::kEqual: return " == ";
      case Comparison::kNotEqual: return " != ";
    }
    return {};
  }
  std::string LogicWord(Logic::Op op) const override { return std::string(core::Name(op)); }
  Piece Selection(const Piece& condition, const Piece& then, const Piece& otherwise) const override {
    return {.text = Wrapped(condition, Level::kOr) + " ? " + Wrapped(then, Level::kOr) + " : " +
                    Wrapped(otherwise, Level::kSelect),
            .level = Level::kSelect};
  }
};

std::string Line(const TextWriter& writer, const Stage& stage, bool with_ranges) {
  std::string line = writer.LeftSide(stage) + " = " + writer.RightSide(stage);
  const std::string conditions = writer.Conditions(stage, stage.domain);
  const std::string ranges = with_ranges && !writer.RangesAreImplied(stage) ? writer.Ranges(stage) : "";
  if (!ranges.empty()) line += "  for " + ranges;
  if (!conditions.empty()) line += (ranges.empty() ? "  where " : " where ") + conditions;
  return line;
}

}  // namespace

std::string StageText(const Computation& computation, const Stage& stage) {
  return Line(TextWriter(computation), stage, true);
}

std::string ComputationText(const Computation& computation) {
  const TextWriter writer(computation);
  std::string text;
  for (const auto& stage : computation.stages) text += Line(writer, stage, true) + "\n";
  for (const auto& assumption : computation.assumptions) text += "# " + assumption + "\n";
  return text;
}

std::string Headline(const Computation& computation, size_t limit) {
  const Computation inlined = Inlined(computation);
  const TextWriter writer(inlined);
  std::vector<std::string> items;
  for (const bool outputs : {true, false})
    for (const auto& stage : inlined.stages)
      if (stage.output == outputs) items.push_back(Line(writer, stage, false));
  std::string line;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string next = line + (i == 0 ? "" : "; ") + items[i];
    const bool last = i + 1 == items.size();
    if (next.size() + (last ? 0 : 5) > limit)
      return line.empty() ? items[i].substr(0, limit - 3) + "..." : line + "; ...";
    line = next;
  }
  return line;
}

}  // namespace warpwright::core
