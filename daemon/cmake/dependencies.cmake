# Every third-party library is a dep_* target, found here and nowhere else.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(ww_pkg name module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
  add_library(dep_${name} INTERFACE)
  target_link_libraries(dep_${name} INTERFACE PkgConfig::${name})
endfunction()

ww_pkg(git2 libgit2)
ww_pkg(yaml yaml-cpp)
ww_pkg(fmt fmt)
ww_pkg(crypto libcrypto)
ww_pkg(seccomp libseccomp)
ww_pkg(curl libcurl)
ww_pkg(microhttpd libmicrohttpd)
ww_pkg(systemd libsystemd)

find_package(SQLiteCpp REQUIRED)  # brings SQLite
add_library(dep_sqlitecpp INTERFACE)
target_link_libraries(dep_sqlitecpp INTERFACE SQLiteCpp)

find_path(WW_BOOST_MATH_INCLUDE boost/math/distributions/students_t.hpp REQUIRED)
find_path(WW_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
find_path(WW_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
find_path(WW_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
foreach(header expected json cli11 boost_math)
  add_library(dep_${header} INTERFACE)
endforeach()

set(WW_LLVM_ROOT /usr/lib/llvm-19 CACHE PATH "LLVM 19, for libclang")
find_path(WW_CLANG_INCLUDE clang-c/Index.h PATHS ${WW_LLVM_ROOT}/include NO_DEFAULT_PATH REQUIRED)
find_library(WW_CLANG_LIBRARY NAMES clang-19 clang PATHS ${WW_LLVM_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
add_library(dep_clang INTERFACE)
target_include_directories(dep_clang SYSTEM INTERFACE ${WW_CLANG_INCLUDE})
target_link_libraries(dep_clang INTERFACE ${WW_CLANG_LIBRARY})

# The CUDA toolkit: headers for NVRTC and CUPTI at build time; the libraries are opened at run time (compile/toolkit.h).
# Order: CUDA_HOME, the folder that script/bootstrap --cuda-from-pypi fills, nvcc on PATH, /usr/local/cuda.
find_program(WW_NVCC nvcc)
set(cuda_hints $ENV{CUDA_HOME} ${PROJECT_SOURCE_DIR}/.cuda)
if(WW_NVCC)
  get_filename_component(nvcc_real ${WW_NVCC} REALPATH)
  get_filename_component(nvcc_bin ${nvcc_real} DIRECTORY)
  get_filename_component(nvcc_root ${nvcc_bin} DIRECTORY)
  list(APPEND cuda_hints ${nvcc_root})
endif()
find_path(WW_CUDA_INCLUDE nvrtc.h HINTS ${cuda_hints} /usr/local/cuda PATH_SUFFIXES include NO_DEFAULT_PATH)
if(NOT WW_CUDA_INCLUDE)
  message(FATAL_ERROR "No CUDA toolkit found (CUDA_HOME, PATH, /usr/local/cuda). Run script/bootstrap: it says how to get "
                      "one, and with --cuda-from-pypi installs what is needed into .cuda/.")
endif()
get_filename_component(WW_CUDA_ROOT ${WW_CUDA_INCLUDE} DIRECTORY)
add_library(dep_cuda_headers INTERFACE)
target_include_directories(dep_cuda_headers SYSTEM INTERFACE ${WW_CUDA_INCLUDE})

if(WW_TESTS)
  find_package(GTest REQUIRED)
  add_library(dep_gtest INTERFACE)
  target_link_libraries(dep_gtest INTERFACE GTest::gtest)
endif()
if(WW_TESTS OR WW_FUZZ)  # the servers that tests set up
  find_path(WW_HTTPLIB_INCLUDE httplib.h REQUIRED)
  find_library(WW_HTTPLIB_LIBRARY cpp-httplib REQUIRED)
  add_library(dep_httplib INTERFACE)
  target_link_libraries(dep_httplib INTERFACE ${WW_HTTPLIB_LIBRARY} Threads::Threads)
  target_compile_definitions(dep_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT)  # as Debian built it; without it Request has another layout
endif()
if(WW_BENCH)
  find_package(benchmark REQUIRED)
  add_library(dep_benchmark INTERFACE)
  target_link_libraries(dep_benchmark INTERFACE benchmark::benchmark)
endif()

# Time zones.
find_path(WW_DATE_INCLUDE date/tz.h REQUIRED)
find_library(WW_DATE_LIBRARY date-tz REQUIRED)
add_library(dep_tz INTERFACE)
target_link_libraries(dep_tz INTERFACE ${WW_DATE_LIBRARY})
target_compile_definitions(dep_tz INTERFACE USE_OS_TZDB=1)  # as Debian built it; another value is another ABI
