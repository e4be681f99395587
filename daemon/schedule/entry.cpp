#include "schedule/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rewrite/named_constant.h"
#include "rewrite/segments.h"
#include "rewrite/site.h"
#include "schedule/expression_code.h"
#include "schedule/filled_variables.h"
#include "schedule/kernel_text.h"
#include "schedule/null_tests.h"
#include "schedule/schedule.h"
#include "source/analysis.h"
#include "source/features.h"
#include "source/signature.h"
#include "source/syntax.h"
#include "source/tokens.h"

namespace warpwright::schedule {
namespace {

using source::Node;
using source::NodeKind;

// Calls of the runtime that prepare or follow launches that are gone.
bool IsOfOldLaunches(std::string_view callee) {
  static const std::set<std::string_view> kCalls = {"cudaMemsetAsync",
                                                    "cudaMemset",
                                                    "cudaMemcpyAsync",
                                                    "cudaMemcpy",
                                                    "cudaMalloc",
                                                    "cudaMallocAsync",
                                                    "cudaFree",
                                                    "cudaFreeAsync",
                                                    "cudaFuncSetAttribute",
                                                    "cudaEventCreate",
                                                    "cudaEventRecord",
                                                    "cudaEventDestroy",
                                                    "cudaMemcpyToSymbol",
                                                    "cudaMemcpyToSymbolAsync",
                                                    "cudaMemcpyFromSymbolAsync",
                                                    "cudaGetSymbolAddress",
                                                    "cudaLaunchKernel"};
  return kCalls.contains(callee);
}

struct Locals {
  std::set<std::string> symbols;
};

bool Mentions(const Node& node, const Locals& locals) {
  bool found = false;
  source::ForEach(node, [&](const Node& n) { found |= n.Is(NodeKind::kName) && locals.symbols.contains(n.symbol); });
  return found;
}

// Calls that ask how launches went.
bool AsksForErrors(std::string_view callee) {
  return callee == "cudaGetLastError" || callee == "cudaPeekAtLastError" || callee == "cudaDeviceSynchronize" ||
         callee == "cudaStreamSynchronize";
}

std::set<std::string> VariablesOf(const Node& node) {
  std::set<std::string> symbols;
  source::ForEach(node, [&](const Node& n) {
    if (n.Is(NodeKind::kVariable)) symbols.insert(n.symbol);
  });
  return symbols;
}

struct Statement {
  bool launches = false, of_launches = false, declares = false, assigns = false, returns = false, calls_file = false,
       asks_for_errors = false;
};

Statement LookAt(const Node& node, const std::set<std::string>& functions_of_file) {
  Statement seen;
  seen.declares = node.Is(NodeKind::kDeclaration);
  source::ForEach(node, [&](const Node& n) {
    seen.launches |= n.Is(NodeKind::kLaunch);
    seen.of_launches |= n.Is(NodeKind::kCall) && IsOfOldLaunches(n.name);
    seen.assigns |= n.Is(NodeKind::kAssign);
    seen.asks_for_errors |= n.Is(NodeKind::kCall) && AsksForErrors(n.name);
    seen.returns |= n.Is(NodeKind::kReturn);
    seen.calls_file |= n.Is(NodeKind::kCall) && functions_of_file.contains(rewrite::UnqualifiedName(n.name));
  });
  return seen;
}

// Of these variables, those that the statement itself copies to.
std::set<std::string> FilledIn(const Node& node, const std::set<std::string>& variables) {
  std::set<std::string> filled;
  source::ForEach(node, [&](const Node& n) {
    if (!n.Is(NodeKind::kCall) || !FillsVariables(n.name) || n.size() == 0) return;
    const std::string name = rewrite::UnqualifiedName(source::StripCasts(n[0]).name);
    if (variables.contains(name)) filled.insert(name);
  });
  return filled;
}

// Of the file's functions the statement calls only these.
bool CallsOnly(const Node& node, const std::set<std::string>& functions_of_file, const std::set<std::string>& only) {
  bool others = false;
  source::ForEach(node, [&](const Node& n) {
    const std::string name = n.Is(NodeKind::kCall) ? rewrite::UnqualifiedName(n.name) : "";
    others |= functions_of_file.contains(name) && !only.contains(name);
  });
  return !others;
}

// A statement that went with the old launches.
struct Dropped {
  const Node* node = nullptr;
  bool only_declares = false;
};

// Of the dropped statements the declarations that a check by the launcher's own variables needs, in their order: those
// that do nothing else. Nothing: it needs more than that.
std::optional<std::vector<const Node*>> DeclarationsFor(const Node& check, const std::vector<Dropped>& dropped,
                                                        const Locals& locals) {
  Locals needed;
  const auto add = [&](const Node& node) {
    source::ForEach(node, [&](const Node& n) {
      if (n.Is(NodeKind::kName) && locals.symbols.contains(n.symbol)) needed.symbols.insert(n.symbol);
    });
  };
  add(check);
  std::vector<const Node*> declarations;
  for (auto at = dropped.rbegin(); at != dropped.rend(); ++at) {
    const std::set<std::string> declared = VariablesOf(*at->node);
    const bool declares = std::any_of(declared.begin(), declared.end(),
                                      [&](const std::string& symbol) { return needed.symbols.contains(symbol); });
    if (!declares && !(Mentions(*at->node, needed) && !at->only_declares)) continue;
    if (!declares || !at->only_declares) return std::nullopt;
    add(*at->node);
    for (const std::string& symbol : declared) needed.symbols.erase(symbol);
    declarations.insert(declarations.begin(), at->node);
  }
  if (!needed.symbols.empty()) return std::nullopt;
  return declarations;
}

std::string TextOf(const source::SyntaxFunction& function, const Node& node) {
  std::string text(function.Text(node));
  const bool block =
      node.Is(NodeKind::kIf) || node.Is(NodeKind::kFor) || node.Is(NodeKind::kWhile) || node.Is(NodeKind::kBlock);
  if (!text.ends_with(';') && !(block && text.ends_with('}'))) text += ';';
  return text;
}

// The type by which kernels know a buffer's elements: as the launcher spells it, if it is one element.
std::string ElementType(const core::ParameterInfo& info, core::DType dtype, bool& cast) {
  std::string type = info.type;
  for (const std::string_view word : {"const ", "__restrict__", "__restrict", "*", "volatile "})
    for (size_t at = type.find(word); at != std::string::npos; at = type.find(word)) type.erase(at, word.size());
  while (!type.empty() && (type.back() == ' ' || type.back() == '&')) type.pop_back();
  if (type.ends_with(" const")) type.erase(type.size() - 6);
  while (type.starts_with(' ')) type.erase(0, 1);
  const bool vector = !type.empty() && type.back() >= '2' && type.back() <= '4' && type != "__half2";
  const bool same = info.dtype == dtype && !vector && type != "__half2" && type != "half2" &&
                    type != "__nv_bfloat162" && type != "void" && type.find('<') == std::string::npos;
  cast = !same;
  return same ? type : CTypeOf(dtype);
}

std::optional<core::RewriteRefusal> ReadParameters(const source::Ast& ast, const core::KernelSpec& spec, Entry& entry) {
  const auto infos = source::SignatureOf(ast, spec.entry);
  for (const core::ParameterInfo& info : infos) {
    if (source::IsStream(info)) {
      entry.stream = info.name;
      continue;
    }
    const core::Argument* argument = spec.Find(info.name);
    if (argument == nullptr) return Refuse(fmt::format("the manifest does not know the parameter {}", info.name));
    EntryParameter parameter;
    parameter.name = info.name;
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument->kind)) {
      parameter.buffer = true;
      parameter.dtype = buffer->dtype;
      parameter.is_const = info.is_const;
      parameter.type = ElementType(info, buffer->dtype, parameter.cast);
    } else {
      parameter.dtype = std::get<core::ScalarArgument>(argument->kind).dtype;
      parameter.type = info.type.starts_with("const ") ? info.type.substr(6) : info.type;
      if (info.is_pointer) return Refuse(fmt::format("{} is a pointer to a single value", info.name));
    }
    entry.parameters.push_back(std::move(parameter));
  }
  return std::nullopt;
}

// "CUDA_CHECK(cudaMemset(counts, 0, NUM_BINS * sizeof(int)));", which a schedule that needs it keeps as it is.
void AddClear(const source::Ast& ast, const source::SyntaxFunction& function, const Node& statement, Entry& entry) {
  const std::string text = TextOf(function, statement);
  const std::string first = text.substr(0, text.find_first_of(" ({"));
  if (first == "if" || first == "for" || first == "while" || first == "do" || first.empty()) return;
  const source::FunctionAnalysis analysis(function);
  source::ForEach(statement, [&](const Node& call) {
    if (!call.Is(NodeKind::kCall) || (call.name != "cudaMemset" && call.name != "cudaMemsetAsync") || call.size() < 3)
      return;
    const Node& buffer = source::StripCasts(call[0]);
    if (!buffer.Is(NodeKind::kName) || entry.Find(buffer.name) == nullptr || analysis.Fold(call[1]) != 0) return;
    const source::TextRange range = {statement.begin, statement.end};
    entry.clears[buffer.name] = {text, rewrite::NamedConstants(ast, range, entry.declaration.begin)};
  });
}

// "if (k <= 0) return;" behind a memset of the results: what leaves there leaves them as they were cleared.
std::string WithClears(const source::Ast& ast, const source::SyntaxFunction& function, const Node& statement,
                       const std::vector<std::string>& clears) {
  const bool leaves = statement.Is(NodeKind::kIf) && statement.size() > source::kIfThen &&
                      (statement.size() <= source::kIfElse || statement[source::kIfElse].Is(NodeKind::kEmpty));
  if (clears.empty() || !leaves) return TextOf(function, statement);
  std::vector<std::string> lines = clears;
  const Node& then = statement[source::kIfThen];
  if (then.Is(NodeKind::kBlock))
    for (const auto& child : then.children) lines.push_back(TextOf(function, *child));
  else lines.push_back(TextOf(function, then));
  const std::string indent = "\n" + rewrite::IndentUnit(ast.text());
  return fmt::format("if ({}) {{{}{}\n}}", function.Text(statement[source::kIfCondition]), indent,
                     fmt::join(lines, indent));
}

// "INFINITY", "CUDART_INF_F", "-FLT_MAX", "1e30f".
bool NamesInfinity(std::string_view token) {
  for (const std::string_view part : {"INF", "FLT_MAX", "DBL_MAX", "HUGE_VAL", "numeric_limits"})
    if (token.find(part) != std::string_view::npos) return true;
  const size_t exponent = token.find_first_of("eE");
  const bool number = !token.empty() && token[0] >= '0' && token[0] <= '9' && !token.starts_with("0x");
  return number && exponent != std::string_view::npos && token.size() > exponent + 2 && token[exponent + 1] == '3' &&
         token[exponent + 2] >= '0' && token[exponent + 2] <= '9';
}

// Whether "const int NAME = 256;" stands there, or "constexpr unsigned int".
bool IsConstant(const std::vector<source::Token>& tokens, std::string_view name) {
  for (size_t i = 2; i + 3 < tokens.size(); ++i) {
    if (!tokens[i].Is(name) || !tokens[i - 1].Is("int") || !tokens[i + 1].Is("=") || !tokens[i + 3].Is(";")) continue;
    const size_t qualifier = tokens[i - 2].Is("unsigned") && i > 2 ? i - 3 : i - 2;
    if (tokens[i + 2].kind == source::Token::Kind::kNumber &&
        (tokens[qualifier].Is("const") || tokens[qualifier].Is("constexpr")))
      return true;
  }
  return false;
}

// Of "const int block_size = 256;" and "<<<blocks, block_size>>>"; empty where launches name several, or none.
std::string BlockName(std::string_view body) {
  const std::vector<source::Token> tokens = source::Lex(body);
  std::set<std::string_view> names;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].Is("<<<")) continue;
    size_t comma = i + 1;
    for (; comma < tokens.size() && !tokens[comma].Is(",") && !tokens[comma].Is(">>>"); ++comma)
      if (tokens[comma].Is("(") || tokens[comma].Is("[") || tokens[comma].Is("{"))
        comma = source::MatchingBracket(tokens, comma);
    if (comma + 2 < tokens.size() && tokens[comma].Is(",") && tokens[comma + 1].IsIdentifier() &&
        (tokens[comma + 2].Is(",") || tokens[comma + 2].Is(">>>")))
      names.insert(tokens[comma + 1].text);
  }
  return names.size() == 1 && IsConstant(tokens, *names.begin()) ? std::string(*names.begin()) : std::string();
}

core::ReduceOp OpOf(source::Accumulator::Kind kind) {
  using Kind = source::Accumulator::Kind;
  return kind == Kind::kSum       ? core::ReduceOp::kSum
         : kind == Kind::kProduct ? core::ReduceOp::kProduct
         : kind == Kind::kMaximum ? core::ReduceOp::kMax
                                  : core::ReduceOp::kMin;
}

std::map<core::ReduceOp, std::string> ResultNames(const std::vector<CXCursor>& functions) {
  std::map<core::ReduceOp, std::set<std::string>> all;
  for (const CXCursor& f : functions) {
    if (!source::ast::IsKernel(f)) continue;
    const auto syntax = source::BuildSyntax(f);
    if (!syntax) continue;
    const source::FunctionAnalysis analysis(*syntax);
    for (const source::Node* loop : source::Collect(*syntax->body, source::NodeKind::kFor))
      for (const source::Accumulator& a : source::AccumulatorsOf(analysis, *loop)) all[OpOf(a.kind)].insert(a.name);
  }
  std::map<core::ReduceOp, std::string> names;
  for (const auto& [op, of] : all)
    if (of.size() == 1 && of.begin()->size() > 1) names[op] = *of.begin();
  return names;
}

std::set<std::string> NamesComparedWithNull(const source::Ast& ast, const std::vector<CXCursor>& functions,
                                            const Entry& entry) {
  std::set<std::string> buffers, inputs;
  for (const EntryParameter& parameter : entry.parameters) {
    if (!parameter.buffer) continue;
    buffers.insert(parameter.name);
    if (parameter.is_const) inputs.insert(parameter.name);
  }
  std::set<std::string> names = ComparedWithNull(ast, functions, entry.name, buffers, inputs);
  std::erase_if(names, [&](const std::string& name) {
    return std::any_of(entry.before.begin(), entry.before.end(),
                       [&](const std::string& s) { return HasWord(s, "return") && HasWord(s, name); });
  });
  return names;
}

// The stream of all the launches; nothing: they have several.
std::optional<std::string> StreamOf(const source::SyntaxFunction& function, const Node& statement) {
  std::set<std::string> streams;
  source::ForEach(statement, [&](const Node& n) {
    if (!n.Is(NodeKind::kLaunch)) return;
    const bool given = n.size() > source::kLaunchStream && !n[source::kLaunchStream].Is(NodeKind::kEmpty);
    const std::string text(given ? function.Text(n[source::kLaunchStream]) : "");
    streams.insert(text == "0" ? "" : text);
  });
  if (streams.size() > 1) return std::nullopt;
  return streams.empty() ? std::string() : *streams.begin();
}

// What stands in the launcher's parameters when the statement begins must be what callers gave.
std::optional<core::RewriteRefusal> ReadSegment(const source::Ast& ast, const source::SyntaxFunction& function,
                                                size_t number, Entry& entry) {
  const auto segments = rewrite::SegmentsOf(ast, function);
  if (number >= segments.size()) return Refuse("the launcher has no such segment", function.body->line);
  const Node& statement = *segments[number].statement;
  std::string assigned;
  source::ForEach(*function.body, [&](const Node& n) {
    if (!n.Is(NodeKind::kAssign) || n.size() == 0 || !n[0].Is(NodeKind::kName)) return;
    for (const source::SyntaxParameter& parameter : function.parameters)
      if (parameter.symbol == n[0].symbol) assigned = parameter.name;
  });
  if (!assigned.empty()) return Refuse("the launcher assigns to its parameter " + assigned, statement.line);
  const bool launches = !source::Collect(statement, NodeKind::kLaunch).empty();
  const auto stream = StreamOf(function, statement);
  if (!stream) return Refuse("a statement launches into several streams", statement.line);
  if (launches) entry.stream = *stream;
  entry.replaced = {statement.begin, statement.end};
  return std::nullopt;
}

// Whether what the range names does, or what that reaches.
bool NamesInfinityBelow(const source::Ast& ast, const std::vector<CXCursor>& functions, source::TextRange range) {
  std::set<std::string> names;
  for (const source::Token& token : source::Lex(ast.text().substr(range.begin, range.size())))
    names.emplace(token.text);
  std::vector<CXCursor> below;
  for (const CXCursor& f : functions)
    if (names.contains(source::ast::Spelling(f))) {
      below.push_back(f);
      Reached(ast, f, &below);
    }
  for (const CXCursor& f : below)
    for (const source::Token& token : source::ast::Tokens(ast, source::ast::Offsets(f)))
      if (NamesInfinity(token.text)) return true;
  return false;
}

}  // namespace

const EntryParameter* Entry::Find(std::string_view parameter) const {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

std::variant<core::RewriteRefusal, Entry> ReadEntry(const source::Ast& ast, const core::KernelSpec& spec,
                                                    std::optional<size_t> segment) {
  const auto cursor = source::ast::FindFunction(ast, spec.entry);
  if (!cursor || !source::ast::IsInMainFile(*cursor))
    return Refuse(fmt::format("no function {} in the file", spec.entry));
  const int line = source::ast::Line(*cursor);
  if (source::ast::IsKernel(*cursor) || spec.launch)
    return Refuse("the entry is a kernel itself, its launch is the caller's", line);
  if (spec.entry.find('<') != std::string::npos || !source::ast::TemplateParameters(*cursor).empty())
    return Refuse("the launcher is a template", line);
  if (source::ast::IsFromMacro(*cursor)) return Refuse("the launcher is made by a macro", line);
  const auto function = source::BuildSyntax(*cursor);
  if (!function) return Refuse("the launcher has no body", line);

  Entry entry;
  entry.name = source::ast::Spelling(*cursor);
  entry.declaration = {function->begin, function->end};
  entry.body = entry.replaced = {function->body->begin, function->body->end};
  if (const auto refusal = ReadParameters(ast, spec, entry)) return *refusal;

  std::vector<CXCursor> reached;
  std::set<std::string> functions = Reached(ast, *cursor, &reached);
  std::vector<std::vector<source::Token>> kernels;
  for (const CXCursor& f : reached) {
    if (!source::ast::IsDevice(f) && !source::ast::IsKernel(f)) continue;
    kernels.push_back(source::ast::Tokens(ast, source::ast::Offsets(f)));
    for (const source::Token& token : kernels.back()) {
      entry.computes_in_double |= token.Is("double");
      entry.names_infinity |= NamesInfinity(token.text);
      entry.computes_wide |= token.Is("size_t") || token.Is("int64_t") || token.Is("long") || token.Is("ptrdiff_t") ||
                             token.Is("uint64_t");
    }
  }

  entry.unordered = UnorderedTermsOf(kernels, source::Lex(ast.text()));
  entry.results = ResultNames(reached);
  if (segment) {
    if (const auto refusal = ReadSegment(ast, *function, *segment, entry)) return *refusal;
    // Kernels that were written for other segments are none of the author's.
    entry.names_infinity = NamesInfinityBelow(ast, reached, entry.replaced);
    entry.compared_with_null = NamesComparedWithNull(ast, reached, entry);
    return entry;
  }
  entry.block_name = BlockName(ast.text().substr(entry.body.begin, entry.body.end - entry.body.begin));

  // Functions that the whole program sees: what falls back to one of them goes on to do so.
  std::set<std::string> launchers;
  for (const CXCursor& f : reached)
    if (source::ast::IsHost(f) && clang_Cursor_getStorageClass(f) != CX_SC_Static)
      launchers.insert(source::ast::Spelling(f));
  const std::set<std::string> launching = rewrite::LaunchingFunctions(ast, false);
  for (const std::string& name : launching) functions.insert(name), launchers.insert(name);

  std::set<std::string> for_others = FilledForOthers(ast, *cursor);  // and not yet found among what is kept
  Locals locals;                                                     // that go with the old launches
  bool launched = false;
  std::vector<std::string> clears;  // of buffers, so far
  std::vector<Dropped> dropped;
  for (const auto& child : function->body->children) {
    const Node& statement = *child;
    const Statement seen = LookAt(statement, functions);
    const bool of_old = Mentions(statement, locals);  // by variables of other statements
    const bool falls_back = statement.Is(NodeKind::kIf) && !seen.launches && seen.returns && !seen.assigns && !of_old &&
                            CallsOnly(statement, functions, launchers);
    // "cudaError_t error = cudaGetLastError();" after the launches, and what is done with it.
    const bool asks = launched && seen.declares && seen.asks_for_errors && !of_old && !seen.calls_file;
    if (!asks) locals.symbols.merge(VariablesOf(statement));
    const bool plain = !seen.launches && !seen.calls_file && !seen.declares && !seen.assigns && !of_old;
    const std::set<std::string> filled = plain ? FilledIn(statement, for_others) : std::set<std::string>();
    for (const std::string& variable : filled) for_others.erase(variable);
    if (!filled.empty()) {
      entry.kept.push_back({statement.begin, statement.end});
      (launched ? entry.after : entry.before).push_back(TextOf(*function, statement));
      continue;
    }
    const bool only_declares = seen.declares && !seen.launches && !seen.of_launches && !seen.assigns &&
                               CallsOnly(statement, launching, {});  // "const int blocks = divide_up(n, 256);"
    if ((seen.launches || seen.calls_file) && !(falls_back && seen.calls_file) && !only_declares) {
      launched = true;
      source::ForEach(statement, [&](const Node& n) {
        if (!n.Is(NodeKind::kLaunch) || !entry.stream.empty() || n.size() <= source::kLaunchStream) return;
        const Node& stream = n[source::kLaunchStream];
        const std::string text(function->Text(stream));
        if (!stream.Is(NodeKind::kEmpty) && text != "0" && !Mentions(stream, locals)) entry.stream = text;
      });
      continue;
    }
    if (statement.Is(NodeKind::kReturn)) {
      if (statement.size() == 0 || statement[0].Is(NodeKind::kEmpty)) continue;
      entry.result = TextOf(*function, statement);
      if (Mentions(statement, locals)) return Refuse("the launcher returns a variable of its own", statement.line);
      continue;
    }
    if (seen.of_launches && !seen.declares && !seen.assigns && !of_old) {
      const size_t before = entry.clears.size();
      AddClear(ast, *function, statement, entry);
      if (entry.clears.size() > before) clears.push_back(TextOf(*function, statement));
    }
    bool stays = !seen.of_launches && !(seen.declares && !asks) && !seen.assigns && !of_old;
    if (of_old && !launched && seen.returns) {
      const bool checks = statement.Is(NodeKind::kIf) && !seen.of_launches && !seen.assigns;
      const auto declarations = checks ? DeclarationsFor(statement, dropped, locals) : std::nullopt;
      for (const Node* declaration : declarations.value_or(std::vector<const Node*>())) {
        entry.kept.push_back({declaration->begin, declaration->end});
        entry.before.push_back(TextOf(*function, *declaration));
        for (const std::string& symbol : VariablesOf(*declaration)) locals.symbols.erase(symbol);
        std::erase_if(dropped, [&](const Dropped& one) { return one.node == declaration; });
      }
      stays = declarations.has_value();
      entry.loses_checks |= !stays;
    }
    if (!stays) {
      dropped.push_back({&statement, only_declares});
      continue;
    }
    entry.kept.push_back({statement.begin, statement.end});
    if (launched) entry.after.push_back(TextOf(*function, statement));
    else
      entry.before.push_back(seen.returns ? WithClears(ast, *function, statement, clears)
                                          : TextOf(*function, statement));
  }
  reached.push_back(*cursor);
  entry.compared_with_null = NamesComparedWithNull(ast, reached, entry);
  if (!for_others.empty())
    return Refuse(fmt::format("other functions count on what the launcher leaves in {}", *for_others.begin()), line);
  const CXTypeKind result = clang_getCanonicalType(clang_getCursorResultType(*cursor)).kind;
  if (result != CXType_Void && entry.result.empty()) return Refuse("the launcher does not end with a return", line);
  return entry;
}

}  // namespace warpwright::schedule
