# How the project's own targets are made: one static library per folder of daemon/, one test program per folder of
# tests/unit/.

add_library(ww_settings INTERFACE)
target_compile_features(ww_settings INTERFACE cxx_std_20)
target_compile_options(ww_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  # Asks whether a type is used by others by whether it stands in the file that is compiled, which a group of files is not.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${WW_UNITY}>>:-Wno-subobject-linkage>
  # False positives on std::string and std::variant: GCC bugs 105651 and 105562.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  # libstdc++'s stable_sort calls what it itself deprecates, which Clang reports at the call.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # libseccomp's macros.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-c99-extensions>
  # A few hundred MiB more for each compiler save it the 6 % of its time that it collects garbage.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>
  -ffp-contract=off                       # the simulator and the judge depend on exact IEEE steps
  $<$<BOOL:${WW_ODR}>:-O0>
  $<$<BOOL:${WW_DEV}>:-Werror>)
# Linked after the settings, so that these win: GoogleTest's macros shadow, and tests need no speed.
add_library(ww_test_settings INTERFACE)
target_compile_options(ww_test_settings INTERFACE -Wno-shadow -Og)

if(WW_TESTS)
  # One main for all test programs.
  add_library(ww_test_main STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp)
  target_link_libraries(ww_test_main PUBLIC dep_gtest PRIVATE ww_settings ww_test_settings)
endif()

# What every test includes, compiled once. Folders of daemon/ have none: loading one took as long as it saved where eight files are
# compiled as one.
if(WW_TESTS AND WW_PCH)
  add_executable(ww_test_pch EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp)
  target_compile_definitions(ww_test_pch PRIVATE WW_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WW_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(ww_test_pch PRIVATE dep_gtest dep_fmt dep_expected ww_settings ww_test_settings)
  target_precompile_headers(ww_test_pch PRIVATE
    <algorithm> <array> <chrono> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <span> <sstream> <string>
    <string_view> <thread> <utility> <variant> <vector> <tl/expected.hpp> <fmt/format.h> <gtest/gtest.h>)
endif()

# ww_module(core SOURCES a.cpp b.cpp DEPENDS base LINKS dep_fmt): library ww_core from daemon/core.
function(ww_module name)
  cmake_parse_arguments(M "" "" "SOURCES;DEPENDS;LINKS" ${ARGN})
  add_library(ww_${name} STATIC ${M_SOURCES})
  list(TRANSFORM M_DEPENDS PREPEND ww_)
  target_include_directories(ww_${name} PUBLIC ${PROJECT_SOURCE_DIR}/daemon)
  target_link_libraries(ww_${name} PUBLIC ${M_DEPENDS} ${M_LINKS} PRIVATE ww_settings)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR}/daemon APPEND PROPERTY WW_MODULES ww_${name})
  if(NOT name IN_LIST WW_COMPUTING)
    target_compile_options(ww_${name} PRIVATE -Og)
  endif()
endfunction()

# Every header of daemon/ as the first and only include of a file. Left out is source/shim: text for NVRTC, for the recorder and for
# libclang, which give it what it stands on. Without unity builds also what its own source includes first.
function(ww_headers_compile_alone)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/daemon ${PROJECT_SOURCE_DIR}/daemon/*.h)
  list(FILTER headers EXCLUDE REGEX "^source/shim/")
  set(sources "")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "h$" "cpp" own ${PROJECT_SOURCE_DIR}/daemon/${header})
    if(NOT WW_UNITY AND EXISTS ${own})
      file(STRINGS ${own} first REGEX "^#include" LIMIT_COUNT 1)
      if(first STREQUAL "#include \"${header}\"")
        continue()
      endif()
    endif()
    set(source ${PROJECT_BINARY_DIR}/headers_alone/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  get_property(modules DIRECTORY PROPERTY WW_MODULES)
  add_library(headers_compile_alone OBJECT EXCLUDE_FROM_ALL ${sources})
  # exec/lanes.h and what includes it are vector code: compiled as the simulator's handlers are.
  target_compile_options(headers_compile_alone PRIVATE -O0 -march=x86-64-v3 -Wno-unused-function -Wno-unused-variable)
  target_link_libraries(headers_compile_alone PRIVATE ${modules} dep_cli11 ww_settings)
  set_target_properties(headers_compile_alone PROPERTIES UNITY_BUILD OFF)
endfunction()

# A program of all that is in the libraries, needed or not, so that one link sees every file.
function(ww_one_definition)
  get_property(modules DIRECTORY PROPERTY WW_MODULES)
  set(source ${PROJECT_BINARY_DIR}/one_definition.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n" @ONLY)
  # Objects, since an archive that is linked whole may stand on the command line once only.
  list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_executable(one_definition EXCLUDE_FROM_ALL ${source} ${objects})
  target_link_libraries(one_definition PRIVATE ${modules} ww_settings)
endfunction()

# For programs that need no speed of their own. Every one gets WW_SOURCE_DIR (the repository) for data files.
function(ww_compile_like_a_test program)
  target_compile_definitions(${program} PRIVATE WW_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WW_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${program} PRIVATE ww_test_settings)
  if(TARGET ww_test_pch)
    target_link_libraries(${program} PRIVATE dep_gtest)  # the header is valid for equal definitions only
    target_precompile_headers(${program} REUSE_FROM ww_test_pch)
    target_compile_options(${program} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  endif()
endfunction()

# ww_test(core SOURCES a_test.cpp DEPENDS core): program test_core, registered as unit.core. COST: about how many seconds it takes, of one
# that takes long. CTest begins with these, so that of two processors neither waits for the other at the end; it learns the times only from
# earlier runs, and CI has none.
function(ww_test name)
  cmake_parse_arguments(T "" "COST" "SOURCES;DEPENDS;LINKS;LABELS" ${ARGN})
  add_executable(test_${name} ${T_SOURCES})
  list(TRANSFORM T_DEPENDS PREPEND ww_)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE ${T_DEPENDS} ${T_LINKS} ww_test_main ww_settings)
  ww_compile_like_a_test(test_${name})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  add_test(NAME ${T_LABELS}.${name} COMMAND test_${name})
  set_tests_properties(${T_LABELS}.${name} PROPERTIES LABELS "${T_LABELS}")
  if(NOT T_COST AND T_LABELS STREQUAL integration)
    set(T_COST 10)
  endif()
  if(T_COST)
    set_tests_properties(${T_LABELS}.${name} PROPERTIES COST ${T_COST})
  endif()
endfunction()

# ww_embed(target SYMBOL name ROOT dir FILES a.h b/c.h): compiles the files into the target as
#   namespace warpwright::<folder>::embedded { extern const std::map<std::string_view, std::string_view>& <name>(); }
# so that the programs need no data folder beside them.
function(ww_embed target)
  cmake_parse_arguments(E "" "SYMBOL;ROOT" "FILES" ${ARGN})
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${E_SYMBOL}_embedded.cpp)
  list(TRANSFORM E_FILES PREPEND ${E_ROOT}/ OUTPUT_VARIABLE paths)
  string(REPLACE ";" "," files "${E_FILES}")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${E_SYMBOL} -DFOLDER=${folder} -DROOT=${E_ROOT} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/daemon/cmake/embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/daemon/cmake/embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # script/lint builds nothing
endfunction()
