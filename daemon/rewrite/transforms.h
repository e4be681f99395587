// The interface between the files of transforms/ and transform.cpp. Each file there, such as
// transforms/launch_retune.cpp, defines one function, `Transform LaunchRetuneTransform()`, which is declared here and
// called by Transforms(); CMakeLists.txt generates the list from the file names, so that a file without its function
// does not link.
#pragma once

#include <string>
#include <string_view>

#include "rewrite/transform.h"
#include "rewrite/transform_list.h"  // generated: WW_TRANSFORMS(X)

namespace warpwright::rewrite {

#define WW_DECLARE_TRANSFORM(Name) Transform Name();
WW_TRANSFORMS(WW_DECLARE_TRANSFORM)
#undef WW_DECLARE_TRANSFORM

// The value of a parameter that the transformation declares. Parameters are complete and valid when `apply` is called.
int IntegerParameter(const core::RewriteRequest& request, std::string_view name);
std::string TextParameter(const core::RewriteRequest& request, std::string_view name);

}  // namespace warpwright::rewrite
