// Parameters of functions as the manifest and the recorder see them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/inspection.h"
#include "source/ast.h"

namespace warpwright {

// The element type that a C++ type stands for: "float4" is f32, "const __half2" is f16, a template parameter is none.
std::optional<DType> DTypeOf(std::string_view type);

// Of one function, without likely roles.
std::vector<ParameterInfo> ParametersOf(CXCursor function);

// Of the first function that `entry` names; a macro-made one counts. Template parameters that `entry` gives
// ("f<float>") are put in.
std::vector<ParameterInfo> SignatureOf(const Ast& ast, const std::string& entry);

bool IsStream(const ParameterInfo&
                  parameter);  // cudaStream_t: no argument of the manifest; the recorder gives the default stream

}  // namespace warpwright
