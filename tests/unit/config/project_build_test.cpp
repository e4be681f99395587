#include "config/project_build.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

using config::BuildPlace;

struct Said {
  const char* text;
  const char* build;  // BuildOptions::Text()
};
constexpr const char* kNothing = "-std=c++17";

TEST(CompileCommands, OfTheFileCount) {
  const BuildPlace place{"/repo", "build"};
  for (
      const Said& row : {
          Said{R"json([{"directory": "/repo/build", "file": "../src/a.cu",
                    "command": "nvcc -I../include -isystem ../third_party/x -DTILE=32 -DFAST -std=c++20 -x cu -c ../src/a.cu"}])json",
               "-Iinclude -Ithird_party/x -DFAST=1 -DTILE=32 -std=c++20"},
          {R"json([{"directory": "/repo", "file": "/repo/src/a.cu",
                 "arguments": ["nvcc", "-I", "/repo/include", "-I/usr/include", "-I..", "--use_fast_math"]}])json",
           "-Iinclude -std=c++17 --use_fast_math"},
          {R"json([{"directory": ".", "file": "../src/a.cu", "command": "nvcc -isystem=../inc --define-macro=A=1 --std c++14"}])json",
           "-Iinc -DA=1 -std=c++14"},
          {R"json([{"directory": "/repo", "file": "src/b.cu", "command": "nvcc -Iinclude"}])json", kNothing},
          {R"json([{"directory": "/repo", "file": "src/a.cu", "command": "nvcc -Xcompiler -DHOST -o -DOUT -DA='\"x\"' -DB=$(id)"}])json",
           kNothing},
          {R"json([{"directory": "/repo", "file": "src/a.cu", "command": "nvcc -D'T=unsigned int' -std=gnu++17 -std=c++11"}])json",
           "-DT=unsigned int -std=c++17"},
          {R"json([{"directory": 1, "file": ["src/a.cu"], "command": {}}, 7, null])json", kNothing},
          {R"json({"directory": "/repo"})json", kNothing},
          {"[", kNothing},
          {"", kNothing},
      })
    EXPECT_EQ(config::ReadCompileCommands(row.text, place, "src/a.cu").Text(), row.build) << row.text;
}

TEST(CMakeLists, CountAsFarAsTheyAreLiteral) {
  const BuildPlace place{"/repo", "src"};
  for (const Said& row : {
           Said{"include_directories(include ${CMAKE_SOURCE_DIR}/third_party/x SYSTEM "
                "\"${CMAKE_CURRENT_SOURCE_DIR}/../c\")",
                "-Isrc/include -Ithird_party/x -Ic -std=c++17"},
           {"Set(CMAKE_CUDA_STANDARD 20)", "-std=c++20"},
           {"set(CMAKE_CUDA_FLAGS \"${CMAKE_CUDA_FLAGS} --use_fast_math -DA=2 -O3\")",
            "-DA=2 -std=c++17 --use_fast_math"},
           {"string(APPEND CMAKE_CUDA_FLAGS \" -fmad=false\")", "-std=c++17 -fmad=false"},
           {"add_compile_definitions(TILE=32;FAST $<$<CONFIG:Debug>:DEBUG> V=${V})json",
            "-DFAST=1 -DTILE=32 -std=c++17"},
           {"add_definitions(-DA=1 -DB)", "-DA=1 -DB=1 -std=c++17"},
           {"target_compile_options(k PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)",
            "-std=c++17 --expt-relaxed-constexpr"},
           {"target_include_directories(k PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)",
            "-Isrc/include -std=c++17"},
           {"set_target_properties(k PROPERTIES CUDA_STANDARD 20 CUDA_SEPARABLE_COMPILATION ON)", "-std=c++20"},
           // The target that names the file, if one does.
           {"add_library(k a.cu)\nadd_library(l b.cu)\ntarget_compile_definitions(k PRIVATE A=1)\n"
            "target_compile_definitions(l PRIVATE A=2)\nset_property(TARGET l PROPERTY CUDA_STANDARD 20)",
            "-DA=1 -std=c++17"},
           // A condition that nobody evaluates here; a folder does no harm.
           {"if(DEBUG)\n  add_compile_definitions(A=1)\n  "
            "include_directories(inc)\nendif()\nadd_compile_definitions(B=1)",
            "-Isrc/inc -DB=1 -std=c++17"},
           {"# add_definitions(-DA)\n#[[ add_definitions(-DB)\n]] add_definitions(-DC)", "-DC=1 -std=c++17"},
           {"message([==[ add_definitions(-DA) ]==]) add_definitions(-DB)", "-DB=1 -std=c++17"},
           {"include_directories(/usr/include ../.. ${X}/include)", kNothing},
           {"add_definitions(-DA", "-DA=1 -std=c++17"},
           {"add_definitions(\"-DA", "-DA=1 -std=c++17"},
           {"set(", kNothing},
           {"target_include_directories(", kNothing},
           {"((((", kNothing},
       })
    EXPECT_EQ(config::ReadCMakeLists(row.text, place, "src/a.cu").Text(), row.build) << row.text;
}

TEST(Makefile, CountsAsFarAsItIsLiteral) {
  const BuildPlace place{"/repo", ""};
  for (const Said& row : {
           Said{"NVCCFLAGS = -O3 -Iinclude -DTILE=32 \\\n  -std=c++20 --use_fast_math # -DNOT\n",
                "-Iinclude -DTILE=32 -std=c++20 --use_fast_math"},
           {"NVCCFLAGS = -arch=sm_90a\n", "-std=c++17 -arch=sm_90a"},
           {"NVCCFLAGS = --gpu-architecture=sm_90a -gencode arch=compute_80,code=sm_80\n", kNothing},
           {"CUDA_FLAGS := -arch=sm_90\nCUDA_FLAGS += -I $(CURDIR)/inc -I$(CUDA_HOME)/include\n", "-Iinc -std=c++17"},
           {"INCLUDES ?= -I./third_party/x\nCXXFLAGS = -DHOST -std=c++20\nCPPFLAGS=-DA\n",
            "-Ithird_party/x -DA=1 -std=c++17"},
           {"a.o: a.cu\n\t$(NVCC) -Iinc -DB=2 -c a.cu -o a.o\n\tg++ -DNOT main.cpp\n", "-Iinc -DB=2 -std=c++17"},
           {"ifeq ($(D),1)\nNVCCFLAGS += -DA -Idbg\nendif\nNVCCFLAGS += -DB\n", "-Idbg -DB=1 -std=c++17"},
           {"NVCCFLAGS", kNothing},
           {"= -DA\n", kNothing},
           {"NVCCFLAGS = -I", kNothing},
           {"NVCCFLAGS = '-DA", kNothing},
           {"NVCCFLAGS = \\", kNothing},
       })
    EXPECT_EQ(config::ReadMakefile(row.text, place).Text(), row.build) << row.text;
}

TEST(ProjectBuild, IsWhatTheFirstFileSaysThatSaysAnything) {
  const auto root = base::TemporaryDirectory::Create("ww-project");
  ASSERT_TRUE(root);
  const auto write = [&](const char* path, const char* text) {
    ASSERT_TRUE(base::WriteFileAtomically(root->path() / path, text));
  };
  const auto found = [&] {
    const config::ProjectBuild project = config::FindProjectBuild(root->path(), "src/deep/a.cu");
    return project.from + ": " + project.build.Text();
  };
  EXPECT_EQ(found(), std::string(": ") + kNothing);
  write("Makefile", "NVCCFLAGS = -DMAKE -Imissing\n");
  EXPECT_EQ(found(), "Makefile: -DMAKE=1 -std=c++17");
  write("CMakeLists.txt", "add_definitions(-DTOP)\n");
  EXPECT_EQ(found(), "CMakeLists.txt: -DTOP=1 -std=c++17");
  write("src/CMakeLists.txt", "project(x)\n");
  EXPECT_EQ(found(), "CMakeLists.txt: -DTOP=1 -std=c++17");
  write("src/include/a.h", "");
  write("src/CMakeLists.txt", "include_directories(include missing)\n");
  EXPECT_EQ(found(), "src/CMakeLists.txt: -Isrc/include -std=c++17");
  write("build/compile_commands.json",
        R"json([{"directory": ".", "file": "../src/deep/a.cu", "command": "nvcc -I../src/include -DJSON"}])json");
  EXPECT_EQ(found(), "build/compile_commands.json: -Isrc/include -DJSON=1 -std=c++17");
}

}  // namespace
}  // namespace warpwright
