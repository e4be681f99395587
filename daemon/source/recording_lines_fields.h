// How the lines of a recorder program are encoded (base/fields.h).
#pragma once

#include <limits>

#include "base/fields.h"
#include "core/launch_plan_fields.h"
#include "source/recording_lines.h"

namespace warpwright::source {

inline constexpr base::Within kLineNumbers{0, std::numeric_limits<int>::max()};
inline constexpr base::Within kOffsets{0, 99'999};  // within the parameters of a kernel

template <typename V>
void Describe(V& field, const PointerAt*) {
  using T = PointerAt;
  field("at", &T::at, kOffsets);
  field.Inline(&T::pointer);
}
template <typename V>
void Describe(V& field, const ParameterRecord*) {
  using T = ParameterRecord;
  field("bytes", &T::bytes);
  field("pointer", &T::pointer);
  field("pointers", &T::pointers);
}
template <typename V>
void Describe(V& field, const LaunchLine*) {
  using T = LaunchLine;
  field("kernel", &T::kernel);
  field("grid", &T::grid);
  field("block", &T::block);
  field("shared_bytes", &T::shared_bytes);
  field("stream", &T::stream);
  field("cooperative", &T::cooperative);
  field("file", &T::file);
  field("line", &T::line, kLineNumbers);
  field("parameters", &T::parameters);
}
template <typename V>
void Describe(V& field, const MemsetLine*) {
  using T = MemsetLine;
  field("to", &T::to);
  field("value", &T::value);
  field("bytes", &T::bytes);
  field("stream", &T::stream);
}
template <typename V>
void Describe(V& field, const CopyLine*) {
  using T = CopyLine;
  field("to", &T::to);
  field("from", &T::from);
  field("bytes", &T::bytes);
  field("stream", &T::stream);
}
template <typename V>
void Describe(V& field, const UploadLine*) {
  using T = UploadLine;
  field("to", &T::to);
  field("data", &T::data);
  field("stream", &T::stream);
}
template <typename V>
void Describe(V& field, const SymbolLine*) {
  using T = SymbolLine;
  field("symbol", &T::symbol);
  field("offset", &T::offset);
  field("data", &T::data);
  field("stream", &T::stream);
}
template <typename V>
void Describe(V& field, const SymbolCopyLine*) {
  using T = SymbolCopyLine;
  field("symbol", &T::symbol);
  field("offset", &T::offset);
  field("with", &T::with);
  field("to_symbol", &T::to_symbol);
  field("bytes", &T::bytes);
  field("stream", &T::stream);
}
template <typename V>
void Describe(V& field, const EventLine*) {
  using T = EventLine;
  field("waits", &T::waits);
  field("event", &T::event);
  field("stream", &T::stream);
}
template <typename V>
void Describe(V& field, const CallLine*) {
  field("number", &CallLine::number);
  field.Sparse("earlier", &CallLine::earlier);
}
template <typename V>
void Describe(V& field, const WorkspaceLine*) {
  field("buffer", &WorkspaceLine::buffer);
  field("bytes", &WorkspaceLine::bytes);
}
template <typename V>
void Describe(V& field, const Readback*) {
  using T = Readback;
  field("buffer", &T::buffer);
  field("file", &T::file);
  field("line", &T::line, kLineNumbers);
}
template <typename V>
void Describe(V& field, const RefuseLine*) {
  using T = RefuseLine;
  field("reason", &T::reason);
  field("file", &T::file);
  field("line", &T::line, kLineNumbers);
}
template <typename V>
void Describe(V& field, const RecordedFault*) {
  using T = RecordedFault;
  field("signal", &T::signal);
  field("buffer", &T::buffer);
  field("write", &T::write);
  field("dirty", &T::dirty);
  field("managed", &T::managed);
  field("stack", &T::stack);
}
template <typename V>
void Describe(V& field, const KeptLine*) {
  field("buffer", &KeptLine::buffer);
}
template <typename V>
void Describe(V& field, const ServedLine*) {
  field("buffer", &ServedLine::buffer);
}
template <typename V>
void Describe(V& field, const UnorderedLine*) {
  field("file", &UnorderedLine::file);
  field("line", &UnorderedLine::line, kLineNumbers);
}
template <typename V>
void Describe(V& field, const ReturnedLine*) {
  field("value", &ReturnedLine::value);
  field.Sparse("failing", &ReturnedLine::failing);
}
template <typename V>
void Describe(V& field, const EffectLine*) {
  field("what", &EffectLine::what);
  field("function", &EffectLine::function);
}
template <typename V>
void Describe(V& field, const DecidedLine*) {
  field("left", &DecidedLine::left);
  field("right", &DecidedLine::right);
}
template <typename V>
void Describe(V& field, const ComparedLine*) {
  field("value", &ComparedLine::value);
}
template <typename V>
void Describe(V& field, const HostTimeLine*) {
  field("ns", &HostTimeLine::ns);
}
template <typename V>
void Describe(V&, const EndLine*) {}

}  // namespace warpwright::source
