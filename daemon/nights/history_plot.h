// One panel of history_page.h: the nightly runs of one case on one machine. Private to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nights/history.h"

namespace warpwright::nights {

struct PanelNight {
  int64_t time = 0;  // seconds since 1970
  double us = 0, low = 0, high = 0;
  std::string label;  // date, commit, time: shown on hover
  bool slower = false;
};
struct PanelChange {
  int64_t time = 0;
  char kind = 'c';  // c, d, t: code, driver, toolkit
  std::string label;
};
struct PanelRegression {
  int64_t from = 0, to = 0;  // to 0: still open
  std::string label;         // "+31 %"
  std::string title;
};
struct Panel {
  std::string machine, case_name;
  bool modelled = false;
  std::vector<PanelNight> nights;  // by time
  std::vector<PanelChange> changes;
  std::vector<PanelRegression> regressions;
};

inline constexpr double kPanelWidth = 440, kPanelHeight = 250;

// By machine, then case, in the order of first appearance.
std::vector<Panel> PanelsOf(const History& history);
// A group of SVG elements, kPanelWidth by kPanelHeight. Classes are styled by the page.
std::string DrawPanel(const Panel& panel);

}  // namespace warpwright::nights
