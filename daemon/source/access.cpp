// Which memory an access touches: pointers followed to a parameter or an array, indices counted in its elements.
#include <algorithm>
#include <cstdlib>

#include "source/analysis.h"

namespace warpwright::source {
namespace {

constexpr int kMaxPointerDepth = 64;  // of pointers defined in terms of other pointers

}  // namespace

static CXType Pointee(const Node& pointer) {
  CXType type = clang_getCanonicalType(clang_getCursorType(pointer.cursor));
  if (type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray) return clang_getArrayElementType(type);
  return clang_getPointeeType(type);
}

// How many elements of type `from` one element of type `to` covers. In templates sizes are unknown: a vector of T is
// then recognized by its last argument, Vector<T, 4>. A cast to a smaller type is not followed.
static std::optional<int> UnitsOf(CXType from, CXType to) {
  const auto spelling = [](CXType type) { return UnqualifiedSpelling(type); };
  if (spelling(from) == spelling(to)) return 1;
  const long long before = clang_Type_getSizeOf(from), after = clang_Type_getSizeOf(to);
  if (before > 0 && after > 0)
    return after % before == 0 ? std::optional(static_cast<int>(after / before)) : std::nullopt;
  const std::string name = spelling(to);
  const size_t comma = name.rfind(", ");
  if (comma == std::string::npos || name.back() != '>') return 1;
  const int count = std::atoi(name.c_str() + comma + 2);
  return count >= 1 && count <= 16 ? count : 1;
}

std::optional<FunctionAnalysis::Target> FunctionAnalysis::ResolvePointer(const Node& pointer) const {
  if (depth_ >= kMaxPointerDepth) return std::nullopt;
  if (pointer.Is(NodeKind::kCast) && pointer.size() == 1) {
    auto inner = ResolvePointer(pointer[0]);
    if (!inner) return inner;
    CXType from = Pointee(pointer[0]);
    if (from.kind == CXType_Invalid) {  // arithmetic on a dependent type has no type
      const VariableInfo* base = Find(inner->base);
      if (base == nullptr || base->parameter == nullptr || inner->units != 1) return std::nullopt;
      from = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(base->parameter->cursor)));
    }
    const auto units = UnitsOf(from, Pointee(pointer));
    if (!units) return std::nullopt;
    inner->units *= *units;
    inner->reinterpreted |= *units != 1;
    return inner;
  }
  if (pointer.Is(NodeKind::kBinary) && (pointer.name == "+" || pointer.name == "-") && pointer.size() == 2) {
    auto inner = ResolvePointer(pointer[0]);
    const bool swapped = !inner && pointer.name == "+";
    if (swapped) inner = ResolvePointer(pointer[1]);
    if (!inner) return inner;
    const Polynomial offset = Index(pointer[swapped ? 0 : 1]) * Polynomial::Constant(inner->units);
    inner->index = pointer.name == "-" ? inner->index - offset : inner->index + offset;
    return inner;
  }
  if (pointer.Is(NodeKind::kUnary, "&") && pointer.size() == 1) return Resolve(pointer[0]);
  if (pointer.Is(NodeKind::kSubscript)) return Resolve(pointer);  // a row of an array of arrays
  if (!pointer.Is(NodeKind::kName)) return std::nullopt;
  const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(clang_getCursorReferenced(pointer.cursor))).kind;
  const bool array =
      kind == CXType_ConstantArray || kind == CXType_IncompleteArray || kind == CXType_DependentSizedArray;
  if (kind != CXType_Pointer && !array) return std::nullopt;
  if (const Node* definition = array ? nullptr : Definition(pointer.symbol)) {
    const DepthGuard guard(depth_);
    return ResolvePointer(*definition);
  }
  const VariableInfo* info = Find(pointer.symbol);
  if (!array && info != nullptr && info->declaration != nullptr) return std::nullopt;  // a pointer that is modified
  return Target{pointer.symbol, {}, false, 1};
}

std::optional<FunctionAnalysis::Target> FunctionAnalysis::Resolve(const Node& access) const {
  if (access.Is(NodeKind::kUnary, "*")) return ResolvePointer(access[0]);
  if (!access.Is(NodeKind::kSubscript) || access.size() != 2) return std::nullopt;
  auto target = ResolvePointer(access[0]);
  if (!target) return target;
  // tile[y][x]: the first index counts rows.
  CXType type = clang_getCanonicalType(clang_getCursorType(access.cursor));
  Polynomial scale = Polynomial::Constant(target->units);
  while (type.kind == CXType_ConstantArray) {
    scale = scale * Polynomial::Constant(clang_getArraySize(type));
    type = clang_getArrayElementType(type);
  }
  target->index = target->index + Index(access[1]) * scale;
  return target;
}

// A call that dereferences its first argument to read an element.
static bool IsCachedLoad(const Node& node) {
  static const std::set<std::string_view> kLoads = {"__ldg", "__ldcs", "__ldcg", "__ldca", "__ldlu", "__ldcv"};
  return node.Is(NodeKind::kCall) && kLoads.contains(node.name) && node.size() == 1;
}

static bool IsCachedStore(const Node& node) {
  static const std::set<std::string_view> kStores = {"__stcs", "__stcg", "__stwb", "__stwt"};
  return node.Is(NodeKind::kCall) && kStores.contains(node.name) && node.size() == 2;
}

std::optional<Access> FunctionAnalysis::AccessAt(const Node& node) const {
  Access access;
  access.node = &node;
  std::optional<Target> target;
  CXType element = {};
  if (node.Is(NodeKind::kSubscript) || node.Is(NodeKind::kUnary, "*")) {
    const Node* parent = node.parent;
    if (parent != nullptr && parent->Is(NodeKind::kSubscript) && &(*parent)[0] == &node) {
      const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(node.cursor)).kind;
      if (kind == CXType_ConstantArray) return std::nullopt;  // a row of an array of arrays
    }
    if (parent != nullptr && parent->Is(NodeKind::kUnary, "&")) return std::nullopt;
    target = Resolve(node);
    access.writes = IsWritten(node);
    access.reads = !access.writes || (parent->Is(NodeKind::kAssign) && parent->name != "=");
    element = clang_getCursorType(node.cursor);
  } else if (IsCachedLoad(node) || IsCachedStore(node) || (IsAtomic(node) && node.size() > 0)) {
    target = ResolvePointer(node[0]);
    access.atomic = IsAtomic(node);
    access.writes = access.atomic || IsCachedStore(node);
    access.reads = access.atomic || IsCachedLoad(node);
    element = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(node[0].cursor)));
  }
  if (!target) return std::nullopt;
  access.base = target->base;
  access.index = target->index;
  access.reinterpreted = target->reinterpreted;
  access.units = target->units;
  access.vector_width = std::max(VectorWidthOf(element), target->units);
  return access;
}

std::vector<Access> FunctionAnalysis::Accesses(std::set<std::string>* unresolved) const {
  std::vector<Access> found;
  std::set<const Node*> covered;  // names that belong to an access or a pointer definition
  const auto cover = [&](const Node& pointer) {
    const Node* node = &pointer;
    while (node->size() > 0 && !node->Is(NodeKind::kName)) {
      const bool swapped = node->Is(NodeKind::kBinary) && !ResolvePointer((*node)[0]);
      node = &(*node)[swapped ? 1 : 0];
    }
    covered.insert(node);
  };
  ForEach(*function_.body, [&](const Node& node) {
    if (auto access = AccessAt(node)) {
      cover(node.Is(NodeKind::kCall) ? node[0] : node);
      found.push_back(std::move(*access));
    } else if (node.Is(NodeKind::kVariable) && node.size() == 1 && node.type.find('*') != std::string::npos &&
               Definition(node.symbol) != nullptr && ResolvePointer(node[0])) {
      cover(node[0]);
    }
  });
  if (unresolved == nullptr) return found;
  for (const auto& [symbol, info] : variables_) {
    const bool pointer = info.type.find('*') != std::string::npos || info.type.find('[') != std::string::npos;
    for (const Node* use : info.uses)
      if (pointer && !covered.contains(use)) unresolved->insert(symbol);
  }
  return found;
}

}  // namespace warpwright::source
