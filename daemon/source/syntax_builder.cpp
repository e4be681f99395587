#include "source/syntax_builder.h"

#include <algorithm>
#include <array>
#include <optional>

namespace warpwright::source {
namespace {

// The positions that separate the parts of "for (a; b; c)".
struct LoopHeader {
  size_t open = 0, close = 0;
  std::vector<size_t> semicolons;  // not those within brackets
};
std::optional<LoopHeader> ReadLoopHeader(std::string_view text, const NodeExtent& extent) {
  const std::vector<Token> tokens = Lex(text.substr(extent.begin, extent.end - extent.begin));
  const auto is_open = [](const Token& token) { return token.Is("("); };
  const auto open = static_cast<size_t>(std::find_if(tokens.begin(), tokens.end(), is_open) - tokens.begin());
  const size_t close = MatchingBracket(tokens, open);
  if (close >= tokens.size()) return std::nullopt;
  LoopHeader header{.open = extent.begin + tokens[open].range.begin,
                    .close = extent.begin + tokens[close].range.begin,
                    .semicolons = {}};
  int depth = 0;
  for (size_t i = open; i < close; ++i) {
    const Token& token = tokens[i];
    if (token.Is("(") || token.Is("[") || token.Is("{")) ++depth;
    if (token.Is(")") || token.Is("]") || token.Is("}")) --depth;
    if (token.Is(";") && depth == 1) header.semicolons.push_back(extent.begin + token.range.begin);
  }
  return header;
}

}  // namespace

NodeExtent NodeExtentOf(CXCursor cursor) {
  const CXSourceRange range = clang_getCursorExtent(cursor);
  const auto offsets = [](CXSourceLocation location) {
    unsigned file = 0, spelling = 0;
    CXFile spelled_in = nullptr, stands_in = nullptr;
    clang_getFileLocation(location, &stands_in, nullptr, nullptr, &file);
    clang_getSpellingLocation(location, &spelled_in, nullptr, nullptr, &spelling);
    return std::pair(file, file != spelling || stands_in != spelled_in);
  };
  const auto [begin, begin_macro] = offsets(clang_getRangeStart(range));
  const auto [end, end_macro] = offsets(clang_getRangeEnd(range));
  return {begin, std::max(begin, end), begin_macro || end_macro};
}

bool IsPartReference(CXCursorKind kind) { return clang_isReference(kind) && kind != CXCursor_OverloadedDeclRef; }

std::unique_ptr<Node> SyntaxBuilder::Build(CXCursor cursor, const NodeExtent* around) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const NodeExtent extent = Within(cursor);
  if (++depth_ > kMaxDepth) {
    --depth_;
    return Make(NodeKind::kOther, cursor, extent);
  }
  std::unique_ptr<Node> node = Dispatch(kind, cursor, extent, around);
  --depth_;
  return node;
}

NodeExtent SyntaxBuilder::Within(CXCursor cursor) const {
  const NodeExtent extent = NodeExtentOf(cursor);
  return extent.end <= text_.size() ? extent : NodeExtent{};
}

std::unique_ptr<Node> SyntaxBuilder::Make(NodeKind kind, CXCursor cursor, const NodeExtent& extent) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->cursor = cursor;
  node->begin = extent.begin;
  node->end = std::min<uint32_t>(extent.end, static_cast<uint32_t>(text_.size()));
  node->whole = !extent.in_macro;
  node->in_macro = extent.in_macro;
  unsigned line = 0;
  clang_getFileLocation(clang_getCursorLocation(cursor), nullptr, &line, nullptr, nullptr);
  node->line = static_cast<int>(line);
  if (clang_isExpression(clang_getCursorKind(cursor))) node->type = ast::TypeSpelling(cursor);
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Empty(uint32_t at) {
  auto node = std::make_unique<Node>();
  node->kind = NodeKind::kEmpty;
  node->begin = node->end = at;
  return node;
}

void SyntaxBuilder::AddChildren(Node& node, const std::vector<CXCursor>& cursors) {
  for (const CXCursor& child : cursors)
    if (!IsPartReference(clang_getCursorKind(child)) && !clang_isAttribute(clang_getCursorKind(child)))
      node.children.push_back(Build(child));
}

std::unique_ptr<Node> SyntaxBuilder::Dispatch(CXCursorKind kind, CXCursor cursor, const NodeExtent& extent,
                                              const NodeExtent* around) {
  switch (kind) {
    case CXCursor_CompoundStmt: return Simple(NodeKind::kBlock, cursor, extent);
    case CXCursor_DeclStmt: return Simple(NodeKind::kDeclaration, cursor, extent);
    case CXCursor_VarDecl: return Variable(cursor, extent);
    case CXCursor_IfStmt: return If(cursor, extent);
    case CXCursor_ForStmt: return For(cursor, extent);
    case CXCursor_WhileStmt: return Simple(NodeKind::kWhile, cursor, extent);
    case CXCursor_DoStmt: return Simple(NodeKind::kDo, cursor, extent);
    case CXCursor_ReturnStmt: return Simple(NodeKind::kReturn, cursor, extent);
    case CXCursor_BreakStmt: return Simple(NodeKind::kBreak, cursor, extent);
    case CXCursor_ContinueStmt: return Simple(NodeKind::kContinue, cursor, extent);
    case CXCursor_SwitchStmt: return Simple(NodeKind::kSwitch, cursor, extent);
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt: return Simple(NodeKind::kCase, cursor, extent);
    case CXCursor_NullStmt: return Empty(extent.begin);
    case CXCursor_DeclRefExpr: return Name(cursor, extent);
    case CXCursor_MemberRefExpr: return Member(cursor, extent);
    case CXCursor_ArraySubscriptExpr: return Simple(NodeKind::kSubscript, cursor, extent);
    case CXCursor_CallExpr: return Call(cursor, extent, around);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: return Binary(cursor, extent);
    case CXCursor_UnaryOperator: return Unary(cursor, extent);
    case CXCursor_ConditionalOperator: return Simple(NodeKind::kConditional, cursor, extent);
    case CXCursor_IntegerLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_CharacterLiteral: return Simple(NodeKind::kInteger, cursor, extent);
    case CXCursor_FloatingLiteral: return Simple(NodeKind::kFloating, cursor, extent);
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXFunctionalCastExpr: return Cast(cursor, extent);
    case CXCursor_InitListExpr: return Simple(NodeKind::kInitList, cursor, extent);
    case CXCursor_UnaryExpr: return Simple(NodeKind::kSizeof, cursor, extent);
    case CXCursor_LambdaExpr: return Simple(NodeKind::kLambda, cursor, extent);
    case CXCursor_ParenExpr: return Paren(cursor, extent);
    case CXCursor_UnexposedExpr:
    case CXCursor_UnexposedStmt: return Unexposed(kind, cursor, extent, around);
    default: return Simple(NodeKind::kOther, cursor, extent);
  }
}

std::unique_ptr<Node> SyntaxBuilder::Simple(NodeKind kind, CXCursor cursor, const NodeExtent& extent) {
  auto node = Make(kind, cursor, extent);
  AddChildren(*node, ast::Children(cursor));
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Cast(CXCursor cursor, const NodeExtent& extent) {
  auto node = Simple(NodeKind::kCast, cursor, extent);
  if (node->size() > 1) node->children.erase(node->children.begin(), node->children.end() - 1);
  return node;
}

std::string SyntaxBuilder::SymbolOf(CXCursor declaration) {
  const std::string name = ast::Spelling(declaration);
  const CXCursorKind kind = clang_getCursorKind(declaration);
  if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return name;
  const CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(declaration));
  const bool local = parent == CXCursor_FunctionDecl || parent == CXCursor_FunctionTemplate ||
                     parent == CXCursor_CXXMethod || parent == CXCursor_LambdaExpr || kind == CXCursor_ParmDecl;
  if (!local) return name;
  unsigned offset = 0;
  clang_getFileLocation(clang_getCursorLocation(declaration), nullptr, nullptr, nullptr, &offset);
  return name + "@" + std::to_string(offset);
}

std::unique_ptr<Node> SyntaxBuilder::Variable(CXCursor cursor, const NodeExtent& extent) {
  auto node = Make(NodeKind::kVariable, cursor, extent);
  node->name = ast::Spelling(cursor);
  node->symbol = SymbolOf(cursor);
  node->type = ast::TypeSpelling(cursor);
  const CXCursor initializer = clang_Cursor_getVarDeclInitializer(cursor);
  if (!clang_Cursor_isNull(initializer)) node->children.push_back(Build(initializer, &extent));
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::If(CXCursor cursor, const NodeExtent& extent) {
  auto node = Simple(NodeKind::kIf, cursor, extent);
  if (node->size() == 2) node->children.push_back(Empty(node->end));
  if (node->size() != 3) node->kind = NodeKind::kOther;  // an initializer or a condition variable
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::For(CXCursor cursor, const NodeExtent& extent) {
  auto node = Make(NodeKind::kFor, cursor, extent);
  const auto header = extent.in_macro ? std::nullopt : ReadLoopHeader(text_, extent);
  const std::vector<CXCursor> parts = ast::Children(cursor);
  if (!header || header->semicolons.size() != 2) {
    node->kind = NodeKind::kOther;
    AddChildren(*node, parts);
    return node;
  }
  const auto& [open, close, semicolons] = *header;
  std::array<std::unique_ptr<Node>, 4> slots;
  for (const CXCursor& part : parts) {
    const NodeExtent at = Within(part);
    const size_t slot = at.begin > close           ? kLoopBody
                        : at.begin > semicolons[1] ? kLoopIncrement
                        : at.begin > semicolons[0] ? kLoopCondition
                                                   : kLoopInit;
    slots[slot] = Build(part);
  }
  const std::array<size_t, 4> at = {open + 1, semicolons[0] + 1, semicolons[1] + 1, close + 1};
  for (size_t i = 0; i < slots.size(); ++i)
    node->children.push_back(slots[i] ? std::move(slots[i]) : Empty(static_cast<uint32_t>(at[i])));
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Name(CXCursor cursor, const NodeExtent& extent) {
  auto node = Make(NodeKind::kName, cursor, extent);
  const CXCursor declaration = clang_getCursorReferenced(cursor);
  node->name = ast::Spelling(cursor);
  node->symbol = clang_Cursor_isNull(declaration) ? node->name : SymbolOf(declaration);
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Member(CXCursor cursor, const NodeExtent& extent) {
  auto node = Simple(NodeKind::kMember, cursor, extent);
  node->name = ast::Spelling(cursor);
  if (node->size() == 1 && ((*node)[0].Is(NodeKind::kName) || (*node)[0].Is(NodeKind::kMember)))
    node->name = (*node)[0].name + "." + node->name;
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Binary(CXCursor cursor, const NodeExtent& extent) {
  const CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(cursor);
  const bool assigns = op >= CXBinaryOperator_Assign && op <= CXBinaryOperator_OrAssign;
  auto node = Simple(assigns ? NodeKind::kAssign : NodeKind::kBinary, cursor, extent);
  node->name = ast::ToString(clang_getBinaryOperatorKindSpelling(op));
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Unary(CXCursor cursor, const NodeExtent& extent) {
  const CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(cursor);
  const bool steps = op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
  auto node = Simple(steps ? NodeKind::kAssign : NodeKind::kUnary, cursor, extent);
  node->name = ast::ToString(clang_getUnaryOperatorKindSpelling(op));
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Paren(CXCursor cursor, const NodeExtent& extent) {
  const std::vector<CXCursor> children = ast::Children(cursor);
  if (children.size() != 1) return Simple(NodeKind::kOther, cursor, extent);
  auto node = Build(children[0]);
  if (extent.in_macro && !node->in_macro) return node;  // (x) in a macro's body: the argument is spelled by itself
  node->begin = extent.begin;
  node->end = extent.end;
  node->whole = !extent.in_macro;
  node->in_macro = extent.in_macro;
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Unexposed(CXCursorKind kind, CXCursor cursor, const NodeExtent& extent,
                                               const NodeExtent* around) {
  std::vector<CXCursor> children = ast::Children(cursor);
  std::erase_if(children, [](CXCursor c) { return IsPartReference(clang_getCursorKind(c)); });
  if (children.empty()) {
    if (extent.end == 0) return Empty(0);  // a default argument
    auto node = Make(NodeKind::kOther, cursor, extent);
    node->name = ast::Spelling(cursor);
    return node;
  }
  if (children.size() > 1) return Unresolved(cursor, extent, children);
  auto node = Build(children[0], around);
  if (kind == CXCursor_UnexposedStmt && extent.begin < node->begin)
    node->unrolled = text_.substr(extent.begin, node->begin - extent.begin).find("unroll") != std::string_view::npos;
  return node;
}

}  // namespace warpwright::source
