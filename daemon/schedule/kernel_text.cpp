#include "schedule/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/computation_text.h"
#include "schedule/expression_code.h"
#include "source/broken_line.h"

namespace warpwright::schedule {
namespace {

constexpr size_t kLineLength = 100;
constexpr size_t kShortLine = 60, kLongestLine = 116;
constexpr size_t kFormulaLines = 4, kFormulaLength = 110, kLongestFormula = 3 * kFormulaLength;

// Names that mean something else inside a kernel.
constexpr const char* kReserved[] = {
    "int",      "float",    "double",  "half",     "char", "long", "short",  "bool", "for",     "if",      "else",
    "while",    "do",       "return",  "const",    "auto", "min",  "max",    "abs",  "exp",     "log",     "threadIdx",
    "blockIdx", "blockDim", "gridDim", "warpSize", "new",  "this", "switch", "case", "default", "template"};

bool MentionsSize(const core::Size& size, std::set<std::string>& names) {
  for (const std::string& name : size.Variables()) names.insert(name);
  return true;
}

void CollectNames(const core::Affine& position, std::set<std::string>& names) {
  for (const auto& term : position.terms) {
    MentionsSize(term.coefficient, names);
    if (term.modulus) MentionsSize(*term.modulus, names);
  }
  MentionsSize(position.constant, names);
  MentionsSize(position.divisor, names);
}
void CollectNames(const std::vector<core::Guard>& guards, std::set<std::string>& names) {
  for (const auto& guard : guards) {
    CollectNames(guard.value, names);
    if (guard.low) MentionsSize(*guard.low, names);
    if (guard.high) MentionsSize(*guard.high, names);
  }
}

// The entry's arguments that a stage's code names.
std::set<std::string> NamesOf(const Problem& problem, const core::Stage& stage) {
  std::set<std::string> names;
  const auto tensor = [&](const std::string& name) {
    names.insert(name);
    for (const auto& size : ShapeOf(problem, name)) MentionsSize(size, names);
  };
  if (stage.output) tensor(stage.name);
  for (const auto& extent : stage.extents) MentionsSize(extent, names);
  CollectNames(stage.domain, names);
  for (const auto& at : stage.at) CollectNames(at, names);
  const auto reachable = core::Reachable(stage);
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    if (!reachable[i]) continue;
    const core::Node& node = stage.nodes[i];
    core::ForEachPosition(node, [&](const core::Affine& position) { CollectNames(position, names); });
    if (const auto* scalar = std::get_if<core::ScalarRead>(&node)) names.insert(scalar->name);
    if (const auto* size = std::get_if<core::SizeValue>(&node)) MentionsSize(size->size, names);
    if (const auto* read = std::get_if<core::TensorRead>(&node); read && problem.entry.Find(read->tensor))
      tensor(read->tensor);
    if (const auto* reduce = std::get_if<core::Reduce>(&node)) {
      for (const auto& variable : reduce->variables) MentionsSize(variable.extent, names);
      CollectNames(reduce->guards, names);
    }
  }
  return names;
}

bool Writes(const Problem& problem, const Group& group, const std::string& tensor) {
  return std::any_of(group.stages.begin(), group.stages.end(),
                     [&](size_t i) { return problem.stage(i).output && problem.stage(i).name == tensor; });
}
bool Reads(const Problem& problem, const Group& group, const std::string& tensor) {
  return std::any_of(group.stages.begin(), group.stages.end(), [&](size_t i) {
    const auto& nodes = problem.stage(i).nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](const core::Node& node) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      return read != nullptr && read->tensor == tensor;
    });
  });
}

// `begin` and the parts, comma-separated, continued on further lines where one gets too long.
std::string Broken(const std::string& begin, const std::vector<std::string>& parts, const std::string& end) {
  std::string text = begin;
  size_t column = begin.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
    if (i > 0 && column + 1 + part.size() + end.size() > kLineLength) {
      text += "\n    ";
      column = 4;
    } else if (i > 0) {
      text += " ";
      ++column;
    }
    text += part;
    column += part.size();
  }
  return text + end;
}

bool IsWordAt(const std::string& text, size_t at, size_t size) {
  const auto joins = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !(at > 0 && joins(text[at - 1])) && !(at + size < text.size() && joins(text[at + size]));
}

std::string AsComment(std::string_view text) {
  std::string lines, start = "// ";
  while (text.size() > kFormulaLength) {
    const size_t space = text.rfind(' ', kFormulaLength);
    if (space == std::string_view::npos || space == 0) break;
    lines += start + std::string(text.substr(0, space)) + "\n";
    text.remove_prefix(space + 1);
    start = "//     ";
  }
  return lines + start + std::string(text) + "\n";
}

}  // namespace

std::string WithWord(std::string text, const std::string& word, const std::string& other) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (IsWordAt(text, at, word.size())) {
      text.replace(at, word.size(), other);
      at += other.size() - 1;
    }
  return text;
}
bool HasWord(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (IsWordAt(text, at, word.size())) return true;
  return false;
}

void Lines::Add(std::string_view line) {
  while (true) {
    const size_t end = line.find('\n');
    const std::string_view one = line.substr(0, end);
    if (one.starts_with('#')) text_ += std::string(one) + "\n";
    else if (one.find("//") != std::string_view::npos || one.size() <= kShortLine) AddPlain(one);
    else
      for (const std::string& part :
           source::BrokenLine(std::string(one), kLongestLine - 4 * static_cast<size_t>(level_)))
        AddPlain(part);
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
}
void Lines::AddPlain(std::string_view line) {
  if (!line.empty()) text_ += std::string(2 * static_cast<size_t>(level_), ' ') + std::string(line);
  text_ += "\n";
}
void Lines::AddAll(std::string_view lines) {
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  if (!lines.empty()) Add(lines);
}
void Lines::Open(std::string_view head) {
  Add(head.empty() ? "{" : std::string(head) + " {");
  ++level_;
}
void Lines::Else(std::string_view head) {
  --level_;
  Add("} " + std::string(head) + " {");
  ++level_;
}
void Lines::Close(std::string_view tail) {
  --level_;
  Add("}" + std::string(tail));
}
void Lines::Append(const Lines& other) { text_ += other.text_; }

Names::Names(const Problem& problem) {
  for (const auto& parameter : problem.entry.parameters) taken_.insert(parameter.name);
  for (const char* word : kReserved) taken_.insert(word);
}
std::string Names::TakeOf(const std::vector<std::string>& wishes) {
  for (const std::string& wish : wishes)
    if (taken_.insert(wish).second) return wish;
  for (int i = 2;; ++i)
    if (std::string name = wishes.back() + "_" + std::to_string(i); taken_.insert(name).second) return name;
}

KernelArguments ArgumentsOf(const Problem& problem, const Group& group, const std::set<std::string>& more) {
  std::set<std::string> names = more;
  for (size_t i : group.stages) names.merge(NamesOf(problem, problem.stage(i)));
  KernelArguments arguments;
  for (const auto& parameter : problem.entry.parameters) {
    if (!names.contains(parameter.name)) continue;
    if (!parameter.buffer) {
      arguments.parameters.push_back(parameter.type + " " + parameter.name);
      arguments.values.push_back(parameter.name);
      continue;
    }
    const bool writes = Writes(problem, group, parameter.name), both = writes && Reads(problem, group, parameter.name);
    const std::string pointer = fmt::format("{}{}*", writes ? "" : "const ", parameter.type);
    arguments.parameters.push_back(fmt::format("{}{} {}", pointer, both ? "" : " __restrict__", parameter.name));
    arguments.values.push_back(parameter.cast ? fmt::format("({}) {}", pointer, parameter.name) : parameter.name);
  }
  return arguments;
}

std::string Head(const std::string& before, const std::string& name, const std::vector<std::string>& parameters) {
  return Broken(before + " " + name + "(", parameters, ") {");
}

std::string Launch(const Problem& problem, const std::string& name, const std::string& grid, const std::string& block,
                   const std::vector<std::string>& values, const std::string& shared_bytes) {
  std::string shape = grid + ", " + block;
  if (!problem.entry.stream.empty()) shape += ", " + shared_bytes + ", " + problem.entry.stream;
  else if (shared_bytes != "0") shape += ", " + shared_bytes;
  return Broken(fmt::format("{}<<<{}>>>(", name, shape), values, ");");
}

std::string KernelName(const Problem& problem, const std::string& role) {
  std::string entry = problem.entry.name;
  entry = entry.substr(entry.rfind(':') == std::string::npos ? 0 : entry.rfind(':') + 1);
  const bool camel = entry.find('_') == std::string::npos &&
                     std::any_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isupper(c); });
  const auto& name = problem.kernel_name ? problem.kernel_name : problem.fresh_name;
  if (!camel) return name(entry + "_" + role);
  std::string words = entry;
  bool begins = true;
  for (const char c : role) {
    if (c != '_') words += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return name(words);
}

std::string FormulaComment(const Problem& problem, const Group& group,
                           const std::map<std::string, std::string>& variables) {
  struct Line {
    std::string name, left, right, domain;  // "t0", "t0[i0]", "sum ...", "  for i0<n"
    bool output = false;
  };
  std::vector<Line> lines;
  for (const size_t i : group.stages) {
    const core::Stage& stage = problem.stage(i);
    const std::string text = core::StageText(problem.form, stage);
    const size_t equals = text.find(" = "), domain = std::min(text.find("  for "), text.size());
    lines.push_back({.name = stage.name,
                     .left = text.substr(0, equals),
                     .right = text.substr(equals + 3, domain - equals - 3),
                     .domain = text.substr(domain),
                     .output = stage.output});
  }
  const auto mentions = [](const Line& line, const std::string& name) { return HasWord(line.right, name); };
  for (auto line = lines.begin(); line != lines.end();) {
    const auto copy = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.right == line->left; });
    const auto readers =
        std::count_if(lines.begin(), lines.end(), [&](const Line& l) { return mentions(l, line->name); });
    if (line->output || copy == lines.end() || readers != 1) {
      ++line;
      continue;
    }
    copy->right = line->right;
    line = lines.erase(line);
  }
  std::string comment;
  size_t count = 0;
  std::set<std::string> left_out;
  for (const Line& line : lines) {
    std::string text = line.left + " = " + line.right;
    if (!line.output || text.size() + line.domain.size() <= kFormulaLength) text += line.domain;
    const bool open =
        std::any_of(left_out.begin(), left_out.end(), [&](const std::string& name) { return mentions(line, name); });
    if (text.size() > kLongestFormula || count == kFormulaLines || open) {
      if (!line.output) left_out.insert(line.name);
      continue;
    }
    for (const auto& [stage, variable] : variables) text = WithWord(text, stage, variable);
    comment += AsComment(text);
    ++count;
  }
  return comment;
}

std::string Parenthesized(const std::string& text) {
  if (const size_t type = text.find(">("); text.starts_with("static_cast<") && type != std::string::npos)
    if (const std::string of = text.substr(type + 1); Parenthesized(of) == of) return text;
  int depth = 0;
  bool simple = true;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    simple &= depth > 0 || std::isalnum(static_cast<unsigned char>(c)) ||
              std::string_view("_.:)]").find(c) != std::string_view::npos;
  }
  return simple ? text : "(" + text + ")";
}

std::string CeilDivided(const std::string& size, const std::string& by) {
  if (by == "1") return size;
  const bool number = std::all_of(by.begin(), by.end(), [](unsigned char c) { return std::isdigit(c); });
  const std::string less = number ? std::to_string(std::stoll(by) - 1) : Parenthesized(by) + " - 1";
  return fmt::format("({} + {}) / {}", size, less, Parenthesized(by));
}

}  // namespace warpwright::schedule
