#include "rewrite/block_size.h"

#include <fmt/core.h>

#include <algorithm>

namespace warpwright::rewrite {

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool MentionsToken(std::string_view text, std::string_view name) {
  for (const source::Token& token : source::Lex(text))
    if (token.text == name) return true;
  return false;
}

namespace {

// threadIdx.x / 32, threadIdx.x >> 5, threadIdx.x % 32, threadIdx.x & 31: at most 32 values for any block.
bool IsWarpOrLane(const source::FunctionAnalysis& analysis, const source::Polynomial& index) {
  if (index.Mentions("threadIdx.x") || index.Mentions("threadIdx.y")) return false;
  for (const std::string& symbol : index.Symbols()) {
    const source::Node* node = analysis.OpaqueExpression(symbol);
    if (node == nullptr || !analysis.DependsOn(*node).thread) continue;
    if (!node->Is(source::NodeKind::kBinary) || node->size() != 2) return false;
    const auto right = analysis.Fold((*node)[1]);
    const bool warp_size = (*node)[1].Is(source::NodeKind::kName, "warpSize");
    const bool warp = ((node->name == "/" || node->name == "%") && (right == 32 || warp_size)) ||
                      (node->name == ">>" && right == 5) || (node->name == "&" && right == 31);
    if (!warp) return false;
  }
  return true;
}

// `constexpr int kBins = 256;`: a number with its own name. If it means the block size, RepeatsBlock finds it in an
// index.
bool IsNamedConstant(const source::Node& literal) {
  const source::Node* parent = literal.parent;
  return parent != nullptr && parent->Is(source::NodeKind::kVariable) && parent->type.starts_with("const ");
}

// A literal that equals the block size. 16 and 32 have many meanings: they count if they scale something that belongs
// to a block.
bool IsRepeatedSize(const KernelSite& site, const source::Node& node, const std::set<int64_t>& sizes) {
  if (!node.Is(source::NodeKind::kInteger) || !IsNumber(site.function().Text(node)) || IsNamedConstant(node))
    return false;
  const int64_t value = site.analysis().Fold(node).value_or(0);
  if (value <= 1 || !sizes.contains(value)) return false;
  if (value > 32) return true;
  const source::Node* around = node.parent;
  const bool scales = around != nullptr && around->Is(source::NodeKind::kBinary) &&
                      (around->name == "*" || around->name == "/" || around->name == "%");
  return scales && site.analysis().DependsOn(*around).block;
}

// blockIdx.x * 256 + threadIdx.x, or a loop from threadIdx.x with step 256, for any constant other than the one that
// changes.
bool RepeatsBlock(const KernelSite& site, const source::Node& node, const std::set<int64_t>& sizes,
                  const std::set<std::string>& globals) {
  const source::FunctionAnalysis& analysis = site.analysis();
  const auto named = [&](const source::Node& part) {
    bool found = false;
    source::ForEach(
        part, [&](const source::Node& name) { found |= globals.contains(std::string(site.function().Text(name))); });
    return found;
  };
  if (const auto loop = analysis.Counted(node)) {
    const auto step = loop->step == nullptr ? std::nullopt : analysis.Fold(*loop->step);
    return step && *step > 1 && sizes.contains(*step) && analysis.DependsOn(*loop->start).thread && !named(*loop->step);
  }
  if (!node.Is(source::NodeKind::kBinary, "+")) return false;
  const source::Polynomial index = analysis.Index(node);
  for (const std::string axis : {"x", "y"}) {
    const auto block = index.Coefficient("blockIdx." + axis), thread = index.Coefficient("threadIdx." + axis);
    const int64_t size = block ? block->constant().value_or(0) : 0;
    if (size > 1 && sizes.contains(size) && thread && *thread != source::Polynomial() && !named(node)) return true;
  }
  return false;
}

// The access is in a loop over the whole array: for (b = threadIdx.x; b < kBins; b += blockDim.x) s[b].
bool IsBoundedByLoop(const source::FunctionAnalysis& analysis, const source::Access& access, int64_t elements) {
  for (const source::Node* node = access.node; node != nullptr; node = node->parent) {
    const auto loop = analysis.Counted(*node);
    if (!loop || !access.index.Mentions(loop->variable + "#")) continue;
    const auto bound = analysis.Fold(*loop->bound);
    const source::Polynomial step =
        loop->step == nullptr ? source::Polynomial::Constant(1) : analysis.Index(*loop->step);
    const source::Polynomial variable =
        analysis.Index(*loop->start) + step * source::Polynomial::Symbol(loop->variable + "#");
    if (bound && *bound <= elements && access.index == variable && loop->relation == "<") return true;
  }
  return false;
}

std::optional<core::RewriteRefusal> FindFixedArray(const KernelSite& site, const std::set<std::string>& globals) {
  const source::FunctionAnalysis& analysis = site.analysis();
  for (const source::Access& access : analysis.Accesses()) {
    const source::VariableInfo* array = analysis.Find(access.base);
    const bool shared = array != nullptr && array->declaration != nullptr &&
                        source::ast::HasAttribute(array->declaration->cursor, CXCursor_CUDASharedAttr);
    if (!shared) continue;
    const CXType type = clang_getCanonicalType(clang_getCursorType(array->declaration->cursor));
    const source::Dependence depends = analysis.DependsOn(access.index);
    if (type.kind == CXType_IncompleteArray || !depends.thread || depends.memory) continue;
    const std::string_view declared = site.function().Text(*array->declaration);
    const bool follows = std::any_of(globals.begin(), globals.end(),
                                     [&](const std::string& name) { return MentionsToken(declared, name); });
    const int64_t elements = clang_getArraySize(type);
    const bool by_warp = IsWarpOrLane(analysis, access.index) && elements >= 32;
    if (!follows && !by_warp && !IsBoundedByLoop(analysis, access, elements))
      return Refuse(fmt::format("the size of the shared array {} does not follow the block size", array->name),
                    array->declaration->line);
  }
  return std::nullopt;
}

}  // namespace

std::optional<core::RewriteRefusal> FindHardCoded(const KernelSite& site, const std::vector<BlockConstant>& axes) {
  std::optional<core::RewriteRefusal> refusal;
  std::set<int64_t> sizes;
  std::set<std::string> globals;
  int64_t threads = 1;
  for (const BlockConstant& axis : axes) {
    if (axis.value > 1) sizes.insert(axis.value);
    if (!axis.global.empty()) globals.insert(axis.global);
    threads *= axis.value;
  }
  sizes.insert(threads);
  source::ForEach(*site.function().body, [&](const source::Node& node) {
    if (!refusal && (IsRepeatedSize(site, node, sizes) || RepeatsBlock(site, node, sizes, globals)))
      refusal = Refuse("the kernel repeats the block size", node.line);
  });
  return refusal ? refusal : FindFixedArray(site, globals);
}

}  // namespace warpwright::rewrite
