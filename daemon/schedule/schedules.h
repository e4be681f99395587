// The schedules, one function for each file; schedule.cpp lists them.
#pragma once

#include "schedule/schedule.h"

namespace warpwright::schedule {

Schedule AttentionSchedule();
Schedule TilesSchedule();
Schedule TensorTilesSchedule();
Schedule ScanSchedule();
Schedule ScatterSchedule();
Schedule RowsSchedule();
Schedule ColumnsSchedule();
Schedule SplitSchedule();
Schedule TransposeSchedule();
Schedule WindowSchedule();
Schedule MapSchedule();
Schedule LaunchesSchedule();

}  // namespace warpwright::schedule
