// Which #include directives NVRTC may see. It opens absolute names, and names that climb out of its include folders, as
// written; so a kernel could read a file of the machine into its error messages or constants. The worker's sandbox
// prevents that too; this check reports it at the line of the directive.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace warpwright::compile {

// The first directive of the text or of a header that is neither a name in `headers` nor a plain relative name, as a
// compiler message: "file(line): error: ...".
std::optional<std::string> ForbiddenInclude(const std::string& file, std::string_view text,
                                            const std::map<std::string, std::string>& headers);

}  // namespace warpwright::compile
