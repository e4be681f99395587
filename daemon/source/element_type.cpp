// Element types of pointers and widths of vector types.
#include <map>
#include <set>

#include "source/analysis.h"
#include "source/ast.h"

namespace warpwright::source {
std::string UnqualifiedSpelling(CXType type) {
  if (type.kind == CXType_Invalid) return "";
  return ast::ToString(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
}

std::optional<core::DType> ElementTypeOf(CXType type) {
  type = clang_getCanonicalType(type);
  while (type.kind == CXType_Pointer || type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray ||
         type.kind == CXType_LValueReference || type.kind == CXType_DependentSizedArray ||
         type.kind == CXType_VariableArray)
    type = clang_getCanonicalType(type.kind == CXType_Pointer || type.kind == CXType_LValueReference
                                      ? clang_getPointeeType(type)
                                      : clang_getArrayElementType(type));
  switch (type.kind) {
    case CXType_Bool: return core::DType::kBool;
    case CXType_Char_S:
    case CXType_SChar: return core::DType::kI8;
    case CXType_Char_U:
    case CXType_UChar: return core::DType::kU8;
    case CXType_Int: return core::DType::kI32;
    case CXType_UInt: return core::DType::kU32;
    case CXType_Long:
    case CXType_LongLong:
    case CXType_ULong:
    case CXType_ULongLong: return core::DType::kI64;
    case CXType_Float: return core::DType::kF32;
    case CXType_Double: return core::DType::kF64;
    default: break;
  }
  static const std::map<std::string, core::DType> kNames = {
      {"__half", core::DType::kF16},         {"__half2", core::DType::kF16},
      {"__nv_bfloat16", core::DType::kBF16}, {"__nv_bfloat162", core::DType::kBF16},
      {"float2", core::DType::kF32},         {"float3", core::DType::kF32},
      {"float4", core::DType::kF32},         {"double2", core::DType::kF64},
      {"double4", core::DType::kF64},        {"int2", core::DType::kI32},
      {"int4", core::DType::kI32},           {"uint2", core::DType::kU32},
      {"uint4", core::DType::kU32},          {"uchar4", core::DType::kU8},
      {"char4", core::DType::kI8},           {"longlong2", core::DType::kI64}};
  std::string name = UnqualifiedSpelling(type);
  if (name.starts_with("struct ")) name = name.substr(7);
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::string ElementSpelling(const SyntaxParameter& pointer) {
  const CXType type = clang_getCursorType(pointer.cursor);
  const CXType direct = clang_getPointeeType(type);  // keeps aliases, but does not resolve an alias of the pointer type
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

}  // namespace warpwright::source
