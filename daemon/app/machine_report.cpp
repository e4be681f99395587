#include "app/machine_report.h"

#include <algorithm>

#include "worker/machine_json.h"

namespace warpwright::app {

MachineReport ReadMachineReport(std::string_view output) {
  MachineReport report;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (!line.starts_with('{')) continue;
    if (const Status decoded = worker::DecodeMachine(line, report.machine); !decoded)
      report.problem = {decoded.error().message, decoded.error().remedy};
    const std::string_view name = line.substr(std::min<size_t>(2, line.size()));
    report.last = name.substr(0, name.find('"'));
  }
  return report;
}

}  // namespace warpwright::app
