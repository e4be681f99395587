#include "source/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace warpwright::source {
namespace {

std::string Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

void Remove(std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) text.erase(at, word.size());
}

const std::map<std::string_view, core::DType> kTypes = {{"float", core::DType::kF32},
                                                        {"double", core::DType::kF64},
                                                        {"__half", core::DType::kF16},
                                                        {"half", core::DType::kF16},
                                                        {"__nv_bfloat16", core::DType::kBF16},
                                                        {"nv_bfloat16", core::DType::kBF16},
                                                        {"__nv_bfloat162", core::DType::kBF16},
                                                        {"nv_bfloat162", core::DType::kBF16},
                                                        {"half2", core::DType::kF16},
                                                        {"__half2", core::DType::kF16},
                                                        {"int", core::DType::kI32},
                                                        {"int32_t", core::DType::kI32},
                                                        {"signed int", core::DType::kI32},
                                                        {"unsigned int", core::DType::kU32},
                                                        {"unsigned", core::DType::kU32},
                                                        {"uint32_t", core::DType::kU32},
                                                        {"uint", core::DType::kU32},
                                                        {"long", core::DType::kI64},
                                                        {"long long", core::DType::kI64},
                                                        {"int64_t", core::DType::kI64},
                                                        {"long int", core::DType::kI64},
                                                        {"long long int", core::DType::kI64},
                                                        {"unsigned long", core::DType::kI64},
                                                        {"unsigned long long", core::DType::kI64},
                                                        {"size_t", core::DType::kI64},
                                                        {"uint64_t", core::DType::kI64},
                                                        {"ptrdiff_t", core::DType::kI64},
                                                        {"int8_t", core::DType::kI8},
                                                        {"signed char", core::DType::kI8},
                                                        {"char", core::DType::kI8},
                                                        {"uint8_t", core::DType::kU8},
                                                        {"unsigned char", core::DType::kU8},
                                                        {"uchar", core::DType::kU8},
                                                        {"bool", core::DType::kBool}};

// Splits "float, 4" at its top-level commas.
std::vector<std::string> Arguments(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = Trim(part);
  return parts;
}

// Whether a number converts to this structure implicitly, as with dim3.
bool TakesNumber(CXCursor record) {
  const std::vector<CXCursor> members = ast::Children(record);
  return std::any_of(members.begin(), members.end(), [](CXCursor member) {
    if (clang_getCursorKind(member) != CXCursor_Constructor || !clang_CXXConstructor_isConvertingConstructor(member))
      return false;
    if (clang_Cursor_getNumArguments(member) < 1) return false;
    const CXType first = clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(member, 0)));
    return first.kind >= CXType_Bool && first.kind <= CXType_LongDouble;
  });
}

// The kind of a parameter that neither a buffer nor a number can represent; empty: it is supported.
std::string_view UnsupportedKind(CXType type) {
  type = clang_getCanonicalType(type);
  if (type.kind == CXType_LValueReference) {
    type = clang_getPointeeType(type);
    if (!clang_isConstQualifiedType(type)) return "a reference that may be written to";
    type = clang_getCanonicalType(type);
  }
  if (type.kind == CXType_Pointer) {
    const CXTypeKind pointee = clang_getCanonicalType(clang_getPointeeType(type)).kind;
    if (pointee == CXType_Pointer) return "a pointer to pointers";
    return pointee == CXType_FunctionProto || pointee == CXType_FunctionNoProto ? "a pointer to a function" : "";
  }
  if (type.kind == CXType_Enum) return "an enumeration";
  const CXCursor declaration = clang_getTypeDeclaration(type);
  const CXCursorKind kind = clang_getCursorKind(declaration);
  const bool record = kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl ||
                      kind == CXCursor_ClassTemplate;
  return record && !TakesNumber(declaration) ? "a structure by value" : "";
}

}  // namespace

std::optional<core::DType> DTypeOf(std::string_view type) {
  std::string plain(type);
  for (const std::string_view word :
       {"const ", " const", "volatile ", "__restrict__", "__restrict", "struct ", "std::", "&", "*"}) {
    Remove(plain, word);
  }
  plain = Trim(plain);
  if (const auto found = kTypes.find(plain); found != kTypes.end()) return found->second;
  // float4, uchar4, longlong2
  static const std::map<std::string_view, core::DType> kVectors = {
      {"float", core::DType::kF32},    {"double", core::DType::kF64},    {"int", core::DType::kI32},
      {"uint", core::DType::kU32},     {"char", core::DType::kI8},       {"uchar", core::DType::kU8},
      {"longlong", core::DType::kI64}, {"ulonglong", core::DType::kI64}, {"long", core::DType::kI64}};
  if (plain.size() > 1 && plain.back() >= '1' && plain.back() <= '4') {
    const auto found = kVectors.find(std::string_view(plain).substr(0, plain.size() - 1));
    if (found != kVectors.end()) return found->second;
  }
  return std::nullopt;
}

std::vector<core::ParameterInfo> ParametersOf(CXCursor function) {
  std::vector<core::ParameterInfo> parameters;
  for (const CXCursor& cursor : ast::Parameters(function)) {
    core::ParameterInfo info;
    info.name = ast::Spelling(cursor);
    info.type = ast::TypeSpelling(cursor);
    const CXType type = clang_getCursorType(cursor);
    const CXType canonical = clang_getCanonicalType(type);
    info.is_pointer =
        canonical.kind == CXType_Pointer || type.kind == CXType_Pointer || type.kind == CXType_IncompleteArray;
    info.is_restrict = clang_isRestrictQualifiedType(type) != 0;
    CXType element =
        info.is_pointer ? clang_getPointeeType(canonical.kind == CXType_Pointer ? canonical : type) : canonical;
    if (canonical.kind == CXType_LValueReference) element = clang_getPointeeType(canonical);
    info.is_const = info.is_pointer && clang_isConstQualifiedType(element) != 0;
    const auto spell = [](CXType t) { return ast::ToString(clang_getTypeSpelling(t)); };
    info.dtype = DTypeOf(spell(info.is_pointer && type.kind == CXType_Pointer ? clang_getPointeeType(type) : element));
    if (!info.dtype) info.dtype = DTypeOf(spell(element));
    if (IsStream(info)) info.is_pointer = false;
    parameters.push_back(std::move(info));
  }
  return parameters;
}

std::vector<core::ParameterInfo> SignatureOf(const Ast& ast, const std::string& entry) {
  const auto function = ast::FindFunction(ast, entry);
  if (!function) return {};
  std::vector<core::ParameterInfo> parameters = ParametersOf(*function);
  const size_t open = entry.find('<');
  if (open == std::string::npos) return parameters;
  const auto given = Arguments(std::string_view(entry).substr(open + 1, entry.rfind('>') - open - 1));
  const auto names = ast::TemplateParameters(*function);
  for (core::ParameterInfo& parameter : parameters) {
    if (parameter.dtype) continue;
    for (size_t i = 0; i < std::min(given.size(), names.size()); ++i) {
      for (const Token& token : Lex(parameter.type)) {
        if (token.text == ast::Spelling(names[i])) parameter.dtype = DTypeOf(given[i]);
      }
    }
  }
  return parameters;
}

std::map<size_t, UnsupportedParameter> UnsupportedParametersOf(const Ast& ast, const std::string& entry) {
  std::map<size_t, UnsupportedParameter> unsupported;
  const auto function = ast::FindFunction(ast, entry);
  if (!function) return unsupported;
  const std::vector<CXCursor> cursors = ast::Parameters(*function);
  const std::vector<core::ParameterInfo> parameters = ParametersOf(*function);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string_view kind = IsStream(parameters[i]) ? "" : UnsupportedKind(clang_getCursorType(cursors[i]));
    if (kind.empty()) continue;
    const std::vector<Token> tokens = ast::Tokens(ast, cursors[i]);
    const bool has_default =
        std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.text == "="; });
    unsupported[i] = {
        fmt::format("parameter {} of {} is {} ({}{}{}), and the manifest has buffers and numbers only: "
                    "name as the entry a launcher or a kernel that takes pointers and numbers",
                    i + 1, entry, kind, parameters[i].type, parameters[i].name.empty() ? "" : " ", parameters[i].name),
        ast::Line(cursors[i]), has_default};
  }
  return unsupported;
}

bool IsStream(const core::ParameterInfo& parameter) {
  return parameter.type.find("cudaStream_t") != std::string::npos ||
         parameter.type.find("CUstream") != std::string::npos;
}

}  // namespace warpwright::source
