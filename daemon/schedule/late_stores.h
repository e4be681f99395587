// Stores of an element's results where there are several: all are computed before the first is stored. Callers may pass
// an output in the place of an input, and what is read for one result must not be what another one has left there.
#pragma once

#include <string>
#include <vector>

#include "schedule/kernel_text.h"

namespace warpwright::schedule {

class LateStores {
 public:
  // `several`: else each is stored where it is computed.
  LateStores(const Problem& problem, Names& names, bool several)
      : problem_(problem), names_(names), several_(several) {}

  // Around the statements that compute an output's element, where the condition holds (empty: always): what must be
  // declared before, and the branch.
  void Open(Lines& lines, const core::Stage& output, const std::string& condition);
  // "out[i] = value;", now or in Write; `only_if`: what else must hold for the store alone. Once in each branch.
  void Set(Lines& lines, const std::string& element, const std::string& value, const std::string& only_if = "");
  // The same of an output in parts, with another condition.
  void Else(Lines& lines, const std::string& condition);
  void Close(Lines& lines);
  // What was put off.
  void Write(Lines& lines);

 private:
  struct Store {
    std::string value, element, condition, only_if;
    bool is_own = true;  // the variable
  };

  const Problem& problem_;
  Names& names_;
  const bool several_;
  bool conditional_ = false;
  std::string type_;
  std::vector<Store> stores_;
};

}  // namespace warpwright::schedule
