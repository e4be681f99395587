// Parameters of functions as the manifest and the recorder see them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/inspection.h"
#include "source/ast.h"

namespace warpwright::source {

// The element type that a C++ type stands for: "float4" is f32, "const __half2" is f16, a template parameter is none.
std::optional<core::DType> DTypeOf(std::string_view type);

// Of one function, without likely roles.
std::vector<core::ParameterInfo> ParametersOf(CXCursor function);

// Of the first function that `entry` names; a macro-made one counts. Template parameters that `entry` gives
// ("f<float>") are put in.
std::vector<core::ParameterInfo> SignatureOf(const Ast& ast, const std::string& entry);

// A parameter whose argument the manifest cannot give, for it has buffers and numbers only: structures by value,
// references to be written, pointers to pointers or functions, enumerations.
struct UnsupportedParameter {
  std::string reason;
  int line = 0;
  bool has_default = false;  // harmless where the manifest leaves it out
};
// Of the first function that `entry` names, by index.
std::map<size_t, UnsupportedParameter> UnsupportedParametersOf(const Ast& ast, const std::string& entry);

// cudaStream_t: no argument of the manifest; the recorder gives the default stream.
bool IsStream(const core::ParameterInfo& parameter);

}  // namespace warpwright::source
