// Element types of pointers and widths of vector types.
#include <map>
#include <set>

#include "source/analysis.h"
#include "source/ast.h"

namespace warpwright {
std::string UnqualifiedSpelling(CXType type) {
  if (type.kind == CXType_Invalid) return "";
  return ast::ToString(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
}

std::optional<DType> ElementTypeOf(CXType type) {
  type = clang_getCanonicalType(type);
  while (type.kind == CXType_Pointer || type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray ||
         type.kind == CXType_LValueReference || type.kind == CXType_DependentSizedArray ||
         type.kind == CXType_VariableArray)
    type = clang_getCanonicalType(type.kind == CXType_Pointer || type.kind == CXType_LValueReference
                                      ? clang_getPointeeType(type)
                                      : clang_getArrayElementType(type));
  switch (type.kind) {
    case CXType_Bool:
      return DType::kBool;
    case CXType_Char_S:
    case CXType_SChar:
      return DType::kI8;
    case CXType_Char_U:
    case CXType_UChar:
      return DType::kU8;
    case CXType_Int:
      return DType::kI32;
    case CXType_UInt:
      return DType::kU32;
    case CXType_Long:
    case CXType_LongLong:
    case CXType_ULong:
    case CXType_ULongLong:
      return DType::kI64;
    case CXType_Float:
      return DType::kF32;
    case CXType_Double:
      return DType::kF64;
    default:
      break;
  }
  static const std::map<std::string, DType> kNames = {{"__half", DType::kF16},         {"__half2", DType::kF16},
                                                      {"__nv_bfloat16", DType::kBF16}, {"__nv_bfloat162", DType::kBF16},
                                                      {"float2", DType::kF32},         {"float3", DType::kF32},
                                                      {"float4", DType::kF32},         {"double2", DType::kF64},
                                                      {"double4", DType::kF64},        {"int2", DType::kI32},
                                                      {"int4", DType::kI32},           {"uint2", DType::kU32},
                                                      {"uint4", DType::kU32},          {"uchar4", DType::kU8},
                                                      {"char4", DType::kI8},           {"longlong2", DType::kI64}};
  std::string name = UnqualifiedSpelling(type);
  if (name.starts_with("struct ")) name = name.substr(7);
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::string ElementSpelling(const SyntaxParameter& pointer) {
  const CXType type = clang_getCursorType(pointer.cursor);
  const CXType direct = clang_getPointeeType(type);  // keeps aliases, but does not look through an alias of the pointer
  return UnqualifiedSpelling(direct.kind != CXType_Invalid ? direct
                                                           : clang_getPointeeType(clang_getCanonicalType(type)));
}

int VectorWidthOf(CXType type) {
  std::string name = UnqualifiedSpelling(clang_getCanonicalType(type));
  if (name.starts_with("struct ")) name = name.substr(7);
  static const std::set<std::string> kScalars = {"float", "double", "int",  "uint",  "char",     "uchar",
                                                 "short", "ushort", "long", "ulong", "longlong", "ulonglong"};
  if (name == "__half2" || name == "__nv_bfloat162") return 2;
  if (name.empty() || name.back() < '1' || name.back() > '4') return 1;
  return kScalars.contains(name.substr(0, name.size() - 1)) ? name.back() - '0' : 1;
}

}  // namespace warpwright
