#include "source/syntax.h"

#include "source/ast.h"
#include "source/syntax_builder.h"

namespace warpwright::source {
namespace {

// Only the outermost node of a macro expansion spells the text of its range.
void Finish(Node& node, const Node* parent) {
  node.parent = parent;
  if (!node.whole) {
    const bool same_as_parent = parent != nullptr && parent->begin == node.begin && parent->end == node.end;
    node.whole = !same_as_parent && node.end > node.begin;
  }
  for (auto& child : node.children) Finish(*child, &node);
}

}  // namespace

std::optional<SyntaxFunction> BuildSyntax(CXCursor function) {
  CXCursor body = clang_getNullCursor();
  SyntaxFunction result;
  const NodeExtent extent = NodeExtentOf(function);
  CXFile file = nullptr;
  clang_getFileLocation(clang_getCursorLocation(function), &file, nullptr, nullptr, nullptr);
  size_t size = 0;
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(function);
  const char* content = file == nullptr ? nullptr : clang_getFileContents(unit, file, &size);
  if (content == nullptr) return std::nullopt;
  result.text = std::string_view(content, size);
  result.file = ast::ToString(clang_getFileName(file));
  result.name = ast::Spelling(function);
  result.cursor = function;
  result.begin = extent.begin;
  result.end = extent.end;
  for (const CXCursor& child : ast::Children(function)) {
    if (clang_getCursorKind(child) == CXCursor_CompoundStmt) body = child;
    if (clang_getCursorKind(child) != CXCursor_ParmDecl) continue;
    SyntaxParameter parameter;
    const NodeExtent at = NodeExtentOf(child);
    unsigned offset = 0;
    clang_getFileLocation(clang_getCursorLocation(child), nullptr, nullptr, nullptr, &offset);
    parameter.name = ast::Spelling(child);
    parameter.type = ast::TypeSpelling(child);
    parameter.symbol = parameter.name + "@" + std::to_string(offset);
    parameter.begin = at.begin;
    parameter.end = at.end;
    parameter.cursor = child;
    result.parameters.push_back(std::move(parameter));
  }
  if (clang_Cursor_isNull(body)) return std::nullopt;
  result.body = SyntaxBuilder(result.text).Build(body);
  Finish(*result.body, nullptr);
  return result;
}

void ForEach(const Node& root, const std::function<void(const Node&)>& visit) {
  visit(root);
  for (const auto& child : root.children) ForEach(*child, visit);
}

void Walk(const Node& root, const std::function<bool(const Node&)>& visit) {
  if (!visit(root)) return;
  for (const auto& child : root.children) Walk(*child, visit);
}

std::vector<const Node*> Collect(const Node& root, NodeKind kind) {
  std::vector<const Node*> found;
  ForEach(root, [&](const Node& node) {
    if (node.Is(kind)) found.push_back(&node);
  });
  return found;
}

bool Contains(const Node& ancestor, const Node& node) {
  for (const Node* at = &node; at != nullptr; at = at->parent)
    if (at == &ancestor) return true;
  return false;
}

}  // namespace warpwright::source
