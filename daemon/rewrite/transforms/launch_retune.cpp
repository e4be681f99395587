// launch_retune: another block size, and optionally __launch_bounds__. The block size is changed where it is defined (a
// literal in the launch, a local or global constant, a macro), so that everything computed from it follows; a separate
// literal that repeats the number (`(n + 255) / 256`) is changed with it in the grid, and is a reason to refuse in the
// kernel.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "rewrite/block_size.h"
#include "rewrite/launch.h"
#include "rewrite/site.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

using ConstantOutcome = std::variant<BlockConstant, core::RewriteRefusal>;

// #define NAME 256 of the main file.
std::optional<source::TextRange> MacroLiteral(const source::Ast& ast, std::string_view name) {
  std::optional<source::TextRange> found;
  for (const CXCursor& cursor : source::ast::Children(ast.root())) {
    if (clang_getCursorKind(cursor) != CXCursor_MacroDefinition || source::ast::Spelling(cursor) != name ||
        !source::ast::IsInMainFile(cursor))
      continue;
    const std::vector<source::Token> tokens = source::ast::Tokens(ast, cursor);
    if (tokens.size() != 2 || !IsNumber(tokens[1].text) || found) return std::nullopt;
    found = tokens[1].range;
  }
  return found;
}

ConstantOutcome FindConstant(const source::Ast& ast, const LaunchSite& site, const source::Node& expression,
                             int depth = 0) {
  const source::Node& node = source::StripCasts(expression);
  const auto value = site.host->analysis.Fold(node);
  const auto refuse = [&] {
    return Refuse("the block size is not a constant that can be followed",
                  expression.line ? expression.line : site.launch->line);
  };
  if (!value || *value <= 0 || depth > 8) return refuse();
  BlockConstant result;
  result.value = *value;
  const std::string text(site.host->syntax.Text(node));
  if (node.Is(source::NodeKind::kInteger)) {
    result.literal = {node.begin, node.end};
    if (IsNumber(text)) return result;
    const auto literal = MacroLiteral(ast, text);
    if (!literal) return refuse();
    result.literal = *literal;
    result.global = text;
    return result;
  }
  if (!node.Is(source::NodeKind::kName)) return refuse();
  if (const source::Node* definition = site.host->analysis.Definition(node.symbol)) {
    ConstantOutcome inner = FindConstant(ast, site, *definition, depth + 1);
    if (auto* constant = std::get_if<BlockConstant>(&inner)) constant->locals.insert(node.symbol);
    return inner;
  }
  const CXCursor declaration = clang_getCursorReferenced(node.cursor);
  if (clang_getCursorKind(declaration) != CXCursor_VarDecl || !source::ast::IsInMainFile(declaration)) return refuse();
  const CXCursor initializer = clang_Cursor_getVarDeclInitializer(declaration);
  if (clang_Cursor_isNull(initializer)) return refuse();
  const source::TextRange range = source::ast::Offsets(initializer);
  if (!IsNumber(source::ast::Text(ast, range))) return refuse();
  result.literal = range;
  result.global = node.name;
  return result;
}

// Uses of the constant that must not change with it.
std::optional<core::RewriteRefusal> FindForeignUse(const source::Ast& ast, const KernelSite& site,
                                                   const LaunchSite& launch, const BlockConstant& constant) {
  for (const std::string& symbol : constant.locals) {
    for (const source::Node* use : launch.host->analysis.Find(symbol)->uses) {
      for (const source::Node* at = use; at != nullptr; at = at->parent) {
        const bool other =
            at->Is(source::NodeKind::kLaunch) && std::none_of(site.launches.begin(), site.launches.end(),
                                                              [&](const LaunchSite& own) { return own.launch == at; });
        if (other)
          return Refuse(fmt::format("{} launches {} with the same block size", launch.host->syntax.name, at->name),
                        at->line);
      }
    }
  }
  if (constant.global.empty()) return std::nullopt;
  const auto inside = [&](const source::TextRange& range) {
    const auto holds = [&](const source::SyntaxFunction& function) {
      return function.begin <= range.begin && range.end <= function.end;
    };
    return holds(site.function()) ||
           std::any_of(site.hosts.begin(), site.hosts.end(), [&](const auto& host) { return holds(host->syntax); });
  };
  int definitions = 0;
  for (const source::Token& token : source::Lex(ast.text())) {
    if (token.text != constant.global || inside(token.range)) continue;
    if (++definitions > 1)
      return Refuse(fmt::format("{} is used outside the kernel and its launcher", constant.global), token.line);
  }
  for (const auto& [path, file] : ast.tree().files) {
    if (path == ast.tree().main) continue;
    for (const source::Token& token : source::Lex(file.text))
      if (token.text == constant.global)
        return Refuse(fmt::format("{} is used in {}", constant.global, path), token.line);
  }
  for (const auto& host : site.hosts) {
    for (const source::Node* other : source::Collect(*host->syntax.body, source::NodeKind::kLaunch)) {
      const bool own = std::any_of(site.launches.begin(), site.launches.end(),
                                   [&](const LaunchSite& l) { return l.launch == other; });
      const std::string text(host->syntax.Text(*other));
      for (const source::Token& token : source::Lex(text))
        if (!own && token.text == constant.global)
          return Refuse(fmt::format("{} is launched with the same block size", other->name), other->line);
    }
  }
  return std::nullopt;
}

// Whether the factor is made of the block's size: blockDim.x, or blockDim.x / 32 warps.
bool IsOfBlock(const KernelSite& site, const source::Polynomial& factor, const std::string& size) {
  if (factor.Mentions(size)) return true;
  bool found = false;
  for (const std::string& symbol : factor.Symbols())
    if (const source::Node* expression = site.analysis().OpaqueExpression(symbol))
      source::ForEach(*expression, [&](const source::Node& node) {
        found |= node.Is(source::NodeKind::kMember) && node.name == size;
      });
  return found;
}

// Does a thread of the kernel find its element by blockIdx * blockDim, without striding by the grid's size?
bool NeedsWholeGrid(const KernelSite& site, const std::string& axis) {
  bool by_block = false, strides = false;
  source::ForEach(*site.function().body, [&](const source::Node& node) {
    strides |= node.Is(source::NodeKind::kMember) && node.name == "gridDim." + axis;
    if (!node.Is(source::NodeKind::kBinary, "*") && !node.Is(source::NodeKind::kBinary, "+")) return;
    const auto coefficient = site.analysis().Index(node).Coefficient("blockIdx." + axis);
    by_block |= coefficient && IsOfBlock(site, *coefficient, "blockDim." + axis);
  });
  // A constant block size in the kernel also means blockDim.
  source::ForEach(*site.function().body, [&](const source::Node& node) {
    if (!node.Is(source::NodeKind::kBinary, "+")) return;
    const source::Polynomial index = site.analysis().Index(node);
    const auto block = index.Coefficient("blockIdx." + axis), thread = index.Coefficient("threadIdx." + axis);
    by_block |= block && thread && *thread == source::Polynomial::Constant(1) && block->constant().value_or(0) > 1;
  });
  return by_block && !strides;
}

// Changes the numbers that the grid repeats: 256 and 255, and also 1024 and 1023 if a thread takes four elements.
int ChangeGridLiterals(const LaunchSite& site, const source::Node& expression, int64_t from, int64_t to, Edits& edits) {
  int changed = 0;
  source::ForEach(expression, [&](const source::Node& node) {
    if (!node.Is(source::NodeKind::kInteger) || !IsNumber(site.host->syntax.Text(node))) return;
    const int64_t value = site.host->analysis.Fold(node).value_or(0);
    if (value > 0 && value % from == 0) {
      edits.Replace(node, std::to_string(value / from * to));
    } else if (value > 1 && (value + 1) % from == 0) {
      edits.Replace(node, std::to_string((value + 1) / from * to - 1));
    } else {
      return;
    }
    ++changed;
  });
  return changed;
}

// 256 * sizeof(float) of shared memory, if the number is the block size.
void ChangeSharedLiterals(const LaunchSite& site, int64_t from, int64_t to, Edits& edits) {
  source::ForEach((*site.launch)[source::kLaunchShared], [&](const source::Node& node) {
    if (!node.Is(source::NodeKind::kInteger) || !IsNumber(site.host->syntax.Text(node))) return;
    if (site.host->analysis.Fold(node) == from) edits.Replace(node, std::to_string(to));
  });
}

// Makes the grid's axis follow the block size, unless it is already computed from it.
std::optional<core::RewriteRefusal> FollowGrid(const KernelSite& site, const LaunchSite& launch, size_t axis,
                                               const BlockConstant& constant, int64_t to, Edits& edits) {
  const std::string name(1, "xyz"[axis]);
  const bool needed = NeedsWholeGrid(site, name);
  const auto grid = FindAxis(launch, LaunchAxisGroup::kGrid, axis);
  if (!grid) {
    return needed && axis == 0 ? std::optional(Refuse("the grid cannot be followed", launch.launch->line))
                               : std::nullopt;
  }
  const source::Dependence depends = launch.host->analysis.DependsOn(*grid->expression);
  bool follows =
      std::any_of(constant.locals.begin(), constant.locals.end(), [&](const std::string& s) { return depends.On(s); });
  const source::Node& block = (*launch.launch)[source::kLaunchBlock];
  follows |= block.Is(source::NodeKind::kName) && depends.On(block.symbol);
  source::ForEach(*grid->expression, [&](const source::Node& node) {
    follows |= !constant.global.empty() && MentionsToken(launch.host->syntax.Text(node), constant.global);
    const source::Node* definition =
        node.Is(source::NodeKind::kName) ? launch.host->analysis.Definition(node.symbol) : nullptr;
    follows |= definition != nullptr && !constant.global.empty() &&
               MentionsToken(launch.host->syntax.Text(*definition), constant.global);
  });
  if (follows || !needed) return std::nullopt;
  const source::Node* expression = grid->expression;
  if (const source::Node* definition =
          expression->Is(source::NodeKind::kName) ? launch.host->analysis.Definition(expression->symbol) : nullptr)
    expression = definition;
  if (!grid->exclusive) return Refuse("the grid is shared with another launch", launch.launch->line);
  if (ChangeGridLiterals(launch, *expression, constant.value, to, edits) == 0)
    return Refuse("the grid does not follow the block size", expression->line);
  return std::nullopt;
}

std::vector<int64_t> ShapeFor(const std::vector<BlockConstant>& axes, int64_t size) {
  const bool flat = axes.size() < 2 || axes[1].value == 1;
  if (flat) return {size};
  if (axes[0].literal == axes[1].literal) {  // TILE x TILE
    int64_t side = 1;
    while (side * side < size) ++side;
    return side * side == size ? std::vector<int64_t>{side, side} : std::vector<int64_t>{};
  }
  return {32, size / 32};
}

// Sets or adds __launch_bounds__; `threads` is the largest block of all launches.
void BoundLaunch(const KernelSite& site, int64_t threads, bool add, Edits& edits) {
  const source::SyntaxFunction& kernel = site.function();
  const std::string_view head = site.text.substr(kernel.begin, kernel.body->begin - kernel.begin);
  const std::vector<source::Token> tokens = source::Lex(head);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text == "__launch_bounds__" && i + 2 < tokens.size()) {
      if (IsNumber(tokens[i + 2].text) && tokens[i + 2].text != std::to_string(threads))
        edits.Replace(kernel.begin + tokens[i + 2].range.begin, kernel.begin + tokens[i + 2].range.end,
                      std::to_string(threads));
      return;
    }
    if (tokens[i].text == kernel.name) {
      if (add) edits.Insert(kernel.begin + tokens[i].range.begin, fmt::format("__launch_bounds__({}) ", threads));
      return;
    }
  }
}

// The most threads per block over all launches of the kernel in the file, with this entry's after the change.
std::optional<int64_t> LargestBlock(const KernelSite& site, int64_t size) {
  int64_t largest = size;
  for (const LaunchSite& launch : site.other_launches) {
    int64_t threads = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      const auto value = ConstantAxis(launch, LaunchAxisGroup::kBlock, axis);
      if (!value) return std::nullopt;
      threads *= *value;
    }
    largest = std::max(largest, threads);
  }
  return largest;
}

core::RewriteOutcome ApplyLaunchRetune(const source::Ast& ast, const core::RewriteRequest& request) {
  const int64_t size = IntegerParameter(request, "block_size");
  const bool bounds = TextParameter(request, "launch_bounds") == "on";
  SiteOutcome found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  if (site.entry_is_kernel) return Refuse("the launch is given in the manifest");
  Edits edits;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> chosen;  // one constant cannot take two values
  bool changes = false;
  for (const LaunchSite& launch : site.launches) {
    std::vector<BlockConstant> axes;
    for (size_t axis = 0; axis < 3; ++axis) {
      const auto at = FindAxis(launch, LaunchAxisGroup::kBlock, axis);
      if (!at && axis == 0) return Refuse("the block cannot be followed", launch.launch->line);
      if (!at) break;
      ConstantOutcome constant = FindConstant(ast, launch, *at->expression);
      if (auto* refusal = std::get_if<core::RewriteRefusal>(&constant)) return *refusal;
      if (axis == 2 && std::get<BlockConstant>(constant).value != 1)
        return Refuse("the block has three dimensions", launch.launch->line);
      if (axis < 2) axes.push_back(std::get<BlockConstant>(constant));
      if (!at->exclusive && at->variable != nullptr && axes.back().locals.empty())
        axes.back().locals.insert(at->variable->symbol);  // a dim3 that other launches may use
    }
    const std::vector<int64_t> shape = ShapeFor(axes, size);
    if (shape.empty())
      return Refuse(fmt::format("the block is square, and {} is not a square", size), launch.launch->line);
    int64_t threads = 1;
    for (const BlockConstant& axis : axes) threads *= axis.value;
    if (threads == size) continue;
    changes = true;
    if (auto refusal = FindHardCoded(site, axes)) return *refusal;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const BlockConstant& constant = axes[axis];
      if (auto refusal = FindForeignUse(ast, site, launch, constant)) return *refusal;
      const auto key = std::pair(constant.literal.begin, constant.literal.end);
      if (chosen.contains(key) && chosen[key] != shape[axis])
        return Refuse("one constant gives the block size of different launches", launch.launch->line);
      const bool first = chosen.emplace(key, shape[axis]).second;
      if (first) edits.Replace(constant.literal.begin, constant.literal.end, std::to_string(shape[axis]));
      if (auto refusal = FollowGrid(site, launch, axis, constant, shape[axis], edits)) return *refusal;
    }
    if (axes.size() == 1) ChangeSharedLiterals(launch, axes[0].value, size, edits);
  }
  if (!changes && !bounds)
    return Refuse(fmt::format("the blocks have {} threads already", size), site.launches[0].launch->line);
  const auto largest = LargestBlock(site, size);
  if (bounds && !largest)
    return Refuse("the block size of another launch is not known", site.other_launches[0].launch->line);
  const size_t before = edits.empty() ? 0 : 1;
  if (largest) BoundLaunch(site, *largest, bounds, edits);
  if (before == 0 && edits.empty())
    return Refuse("the kernel has its launch bounds already", source::ast::Line(site.function().cursor));
  std::vector<std::string> notes;
  if (changes) notes.push_back(fmt::format("{} threads per block", size));
  if (bounds && largest) notes.push_back(fmt::format("__launch_bounds__({})", *largest));
  return Finish(ast, edits, std::move(notes));
}

}  // namespace

Transform LaunchRetuneTransform() {
  return {.id = "launch_retune",
          .parameters = {{"block_size", {"128", "64", "256", "512", "1024"}}, {"launch_bounds", {"off", "on"}}},
          .apply = ApplyLaunchRetune};
}

}  // namespace warpwright::rewrite
