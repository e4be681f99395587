// Calls: of functions, operators, constructors and kernels.
#include <algorithm>
#include <cctype>
#include <map>

#include "source/syntax_builder.h"

namespace warpwright::source {

std::unique_ptr<Node> SyntaxBuilder::Unresolved(CXCursor cursor, const NodeExtent& extent,
                                                const std::vector<CXCursor>& children) {
  auto node = Simple(NodeKind::kOther, cursor, extent);
  const bool named = (*node)[0].Is(NodeKind::kName) || clang_getCursorKind(children[0]) == CXCursor_OverloadedDeclRef;
  if (!named || extent.end == 0 || text_[extent.end - 1] != ')') return node;
  node->kind = NodeKind::kCall;
  node->name = CalleeName(cursor, extent);
  node->children.erase(node->children.begin());
  return node;
}

std::string SyntaxBuilder::CalleeName(CXCursor cursor, const NodeExtent& extent) {
  std::string name = ast::Spelling(cursor);
  if (!name.empty()) return name;
  for (const CXCursor& child : ast::Children(cursor)) {
    name = ast::Spelling(child);
    if (!name.empty()) return name;
    for (const CXCursor& inner : ast::Children(child))
      if (clang_getCursorKind(inner) == CXCursor_OverloadedDeclRef) return ast::Spelling(inner);
    break;
  }
  size_t end = extent.begin;  // an unresolved name: as spelled
  while (end < extent.end &&
         (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_' || text_[end] == ':'))
    ++end;
  return std::string(text_.substr(extent.begin, end - extent.begin));
}

std::unique_ptr<Node> SyntaxBuilder::Call(CXCursor cursor, const NodeExtent& extent, const NodeExtent* around) {
  const std::vector<CXCursor> children = ast::Children(cursor);
  if (children.size() > 1 && clang_getCursorKind(children[1]) == CXCursor_CallExpr) {
    const std::string second = ast::Spelling(children[1]);
    if (second == "cudaConfigureCall" || second == "__cudaPushCallConfiguration")
      return Launch(cursor, children[1], extent);
  }
  const int count = clang_Cursor_getNumArguments(cursor);
  const std::string name = CalleeName(cursor, extent);
  if (name.starts_with("operator")) return OperatorCall(cursor, extent, name, children, count);
  if (const std::string op = SpeltOperator(cursor, extent, count); !op.empty())
    return OperatorCall(cursor, extent, "operator" + op, children, count);
  const CXCursor target = clang_getCursorReferenced(cursor);
  const CXCursorKind target_kind = clang_getCursorKind(target);
  const bool type_named = !children.empty() && clang_getCursorKind(children[0]) == CXCursor_TypeRef;
  if (target_kind == CXCursor_Constructor || (clang_Cursor_isNull(target) && type_named) || type_named)
    return Construct(cursor, extent, around, children, count);
  auto node = Make(NodeKind::kCall, cursor, extent);
  node->name = name;
  if (!children.empty() && clang_getCursorKind(children[0]) == CXCursor_MemberRefExpr) {  // a method
    node->name = "." + name;
    AddChildren(*node, ast::Children(children[0]));
  }
  for (int i = 0; i < count; ++i)
    node->children.push_back(Build(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i))));
  return node;
}

std::string SyntaxBuilder::SpeltOperator(CXCursor cursor, const NodeExtent& extent, int count) {
  if (count < 1 || count > 2 || extent.in_macro) return "";
  const NodeExtent first = Within(clang_Cursor_getArgument(cursor, 0));
  std::string_view between;
  if (count == 2 && first.begin == extent.begin) {
    const NodeExtent second = Within(clang_Cursor_getArgument(cursor, 1));
    if (second.begin > first.end) between = text_.substr(first.end, second.begin - first.end);
    if (text_.substr(first.end, 1) == "[") return "[]";
  } else if (count == 1 && first.end == extent.end && first.begin > extent.begin) {
    between = text_.substr(extent.begin, first.begin - extent.begin);
  }
  std::string op;
  for (char c : between) {
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (!std::ispunct(static_cast<unsigned char>(c)) || c == '(' || c == '_') return "";
    op += c;
  }
  return op;
}

std::unique_ptr<Node> SyntaxBuilder::Construct(CXCursor cursor, const NodeExtent& extent, const NodeExtent* around,
                                               const std::vector<CXCursor>& children, int count) {
  std::vector<CXCursor> arguments;
  for (int i = 0; i < count; ++i) arguments.push_back(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i)));
  if (count <= 0 && children.size() == 2 && clang_isExpression(clang_getCursorKind(children[1])))
    arguments = {children[1]};
  std::vector<CXCursor> given;
  for (const CXCursor& argument : arguments)
    if (Within(argument).end != 0) given.push_back(argument);
  const bool direct = around != nullptr && extent.begin >= around->begin;  // T x(a): the range starts at the name
  if (given.size() == 1) {
    const NodeExtent inner = Within(given[0]);
    if (inner.begin == extent.begin && inner.end == extent.end) return Build(given[0]);
  }
  const bool cast =
      given.size() == 1 && !direct && !children.empty() && clang_getCursorKind(children[0]) == CXCursor_TypeRef;
  auto node = Make(cast ? NodeKind::kCast : NodeKind::kConstruct, cursor, extent);
  for (const CXCursor& argument : given) node->children.push_back(Build(argument));
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::OperatorCall(CXCursor cursor, const NodeExtent& extent, const std::string& name,
                                                  const std::vector<CXCursor>& children, int count) {
  const std::string op = name.substr(8);
  std::vector<std::unique_ptr<Node>> operands;
  if (!children.empty() && clang_getCursorKind(children[0]) == CXCursor_MemberRefExpr && count <= 0) {
    auto conversion = Build(children[0]);  // x.operator float(): the operand itself
    if (conversion->Is(NodeKind::kMember) && conversion->size() == 1) return std::move(conversion->children[0]);
    return conversion;
  }
  for (int i = 0; i < count; ++i) operands.push_back(Build(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i))));
  static const std::map<std::string, NodeKind> kKinds = {
      {"=", NodeKind::kAssign},  {"+=", NodeKind::kAssign}, {"-=", NodeKind::kAssign}, {"*=", NodeKind::kAssign},
      {"/=", NodeKind::kAssign}, {"++", NodeKind::kAssign}, {"--", NodeKind::kAssign}, {"[]", NodeKind::kSubscript},
      {"+", NodeKind::kBinary},  {"-", NodeKind::kBinary},  {"*", NodeKind::kBinary},  {"/", NodeKind::kBinary},
      {"<", NodeKind::kBinary},  {">", NodeKind::kBinary},  {"<=", NodeKind::kBinary}, {">=", NodeKind::kBinary},
      {"==", NodeKind::kBinary}, {"!=", NodeKind::kBinary}, {"%", NodeKind::kBinary}};
  const auto found = kKinds.find(op);
  NodeKind kind = found == kKinds.end() ? NodeKind::kCall : found->second;
  if (kind == NodeKind::kBinary && operands.size() == 1) kind = NodeKind::kUnary;
  auto node = Make(kind, cursor, extent);
  node->name = kind == NodeKind::kCall ? name : op;
  if ((op == "++" || op == "--") && operands.size() == 2) operands.pop_back();  // the int of the postfix form
  node->children = std::move(operands);
  return node;
}

std::unique_ptr<Node> SyntaxBuilder::Launch(CXCursor cursor, CXCursor configuration, const NodeExtent& extent) {
  auto node = Make(NodeKind::kLaunch, cursor, extent);
  node->name = CalleeName(cursor, extent);
  const int parts = clang_Cursor_getNumArguments(configuration);
  for (int i = 0; i < 4; ++i) {
    auto part =
        i < parts ? Build(clang_Cursor_getArgument(configuration, static_cast<unsigned>(i))) : Empty(extent.begin);
    if (part->end == 0) part = Empty(extent.begin);
    node->children.push_back(std::move(part));
  }
  const int count = clang_Cursor_getNumArguments(cursor);
  for (int i = 0; i < count; ++i) {
    auto argument = Build(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i)));
    if (argument->end != 0) node->children.push_back(std::move(argument));
  }
  return node;
}

}  // namespace warpwright::source
