// A project's build files are whatever they are. Whatever that is: no crash, no hang, and what is taken from them can
// be written into a manifest. The first byte says which kind of file it is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/build_reader.h"
#include "config/project_build.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace config = warpwright::config;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const config::BuildPlace place{"/repo", "src"};
  const warpwright::core::BuildOptions build = data[0] == 'j'   ? config::ReadCompileCommands(text, place, "src/a.cu")
                                               : data[0] == 'c' ? config::ReadCMakeLists(text, place, "src/a.cu")
                                                                : config::ReadMakefile(text, place);
  if (build.include.size() > config::kMaxBuildItems || build.define.size() > config::kMaxBuildItems) std::abort();
  for (const std::string& folder : build.include)
    if (!config::IsIncludeFolder(folder)) std::abort();
  for (const auto& [name, value] : build.define)
    if (!config::IsDefine(name, value)) std::abort();
  return 0;
}
