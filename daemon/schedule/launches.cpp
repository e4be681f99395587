// Every launch by itself: what applies to the formula of each segment of the launcher. schedule.cpp does it, since no
// single problem tells of several.
#include "schedule/schedules.h"

namespace warpwright::schedule {
namespace {

CodeOutcome Emit(const Problem&, const Group&, const ParameterValues&) {
  return Refuse("it is of several launches, each by itself");
}

}  // namespace

Schedule LaunchesSchedule() {
  return {.id = kEachLaunch, .title = "each launch by itself", .parameters = {kPadding}, .emit = Emit};
}

}  // namespace warpwright::schedule
