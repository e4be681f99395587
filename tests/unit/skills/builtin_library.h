// The library that is built into the program, loaded once for all tests.
#pragma once

#include <gtest/gtest.h>

#include "skills/library.h"

namespace warpwright {

inline const skills::SkillLibrary& BuiltIn() {
  static const Result<skills::SkillLibrary> library = skills::LoadBuiltInSkills();
  if (!library) {
    ADD_FAILURE() << library.error().Format();
    static const skills::SkillLibrary empty;
    return empty;
  }
  return *library;
}

}  // namespace warpwright
