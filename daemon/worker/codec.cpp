#include "worker/codec.h"

#include "base/json_codec.h"
#include "core/equivalence_fields.h"
#include "core/execution_fields.h"
#include "core/inspection_fields.h"
#include "core/lifting_fields.h"
#include "core/paired_timing_fields.h"
#include "core/source_requests_fields.h"

namespace warpwright::worker {

template <typename V>
void Describe(V& field, const InspectCall*) {
  using T = InspectCall;
  field("source", &T::source);
}
constexpr std::string_view Tag(const InspectCall*) { return "inspect"; }
constexpr const char* TagKey(const Call*) { return "verb"; }

namespace {

constexpr base::JsonLimits kLimits = {.bytes = size_t{64} << 20};

class FrameSink final : public base::BlobSink {
 public:
  explicit FrameSink(FrameView& frame) : frame_(frame) {}
  size_t Put(std::span<const std::byte> bytes) override { return frame_.Attach(bytes); }

 private:
  FrameView& frame_;
};
class FrameSource final : public base::BlobSource {
 public:
  explicit FrameSource(Frame& frame) : frame_(frame) {}
  std::optional<base::Bytes> Take(uint64_t number) override {
    if (number >= frame_.attachments.size()) return std::nullopt;
    return std::move(frame_.attachments[number]);
  }

 private:
  Frame& frame_;
};

template <typename T>
FrameView Message(const T& value, void (*write)(const base::JsonSink&, const void*)) {
  FrameView frame;
  FrameSink blobs(frame);
  frame.header = base::EncodeJsonBy(write, &value, &blobs);
  return frame;
}
// Not the variant Call, which would hold a copy: the frame refers to the texts of the request.
template <typename T>
FrameView CallOf(const T& request) {
  return Message(request, [](const base::JsonSink& to, const void* value) {
    const auto* const r = static_cast<const T*>(value);
    to.Object();
    to.Member(TagKey(static_cast<const Call*>(nullptr))).Text(core::Tag(r));
    base::codec::WriteFields(to, *r);
  });
}
template <typename T>
FrameView AnswerOf(const T& answer) {
  return Message(answer, [](const base::JsonSink& to, const void* value) {
    to.Object();
    base::WriteJson(to.Member("ok"), *static_cast<const T*>(value));
  });
}

template <typename T>
Result<T> DecodeHeader(Frame& frame) {
  FrameSource blobs(frame);
  auto value = base::DecodeJson<T>(frame.header, kLimits, &blobs);
  if (!value) return Fail(ErrorCode::kCorrupt, "a frame that does not decode: " + value.error().message);
  return value;
}

template <typename T>
struct Answer {
  std::optional<T> ok;
  std::optional<Error> error;  // the worker's own
};
template <typename V, typename T>
void Describe(V& field, const Answer<T>*) {
  field.Sparse("ok", &Answer<T>::ok);
  field.Sparse("error", &Answer<T>::error);
}
template <typename T>
Result<T> DecodeAnswer(Frame frame) {
  if (frame.kind != FrameKind::kMessage) return Fail(ErrorCode::kCorrupt, "a frame that is not a reply");
  WW_ASSIGN(Answer<T> answer, DecodeHeader<Answer<T>>(frame));
  if (answer.error) return Fail(std::move(*answer.error));
  if (!answer.ok) return Fail(ErrorCode::kCorrupt, "a frame that does not decode: no answer in it");
  return std::move(*answer.ok);
}

}  // namespace

FrameView EncodeInspect(const core::SourceRef& source) {
  return Message(source, [](const base::JsonSink& to, const void* value) {
    to.Object();
    to.Member(TagKey(static_cast<const Call*>(nullptr))).Text(Tag(static_cast<const InspectCall*>(nullptr)));
    base::WriteJson(to.Member("source"), *static_cast<const core::SourceRef*>(value));
  });
}
FrameView EncodeCall(const core::RewriteRequest& request) { return CallOf(request); }
FrameView EncodeCall(const core::SpliceRequest& request) { return CallOf(request); }
FrameView EncodeCall(const core::ExecuteRequest& request) { return CallOf(request); }
FrameView EncodeCall(const core::TimeRequest& request) { return CallOf(request); }
FrameView EncodeCall(const core::LiftRequest& request) { return CallOf(request); }
FrameView EncodeCall(const core::EquivalenceRequest& request) { return CallOf(request); }
Result<Call> DecodeCall(Frame frame) { return DecodeHeader<Call>(frame); }

FrameView EncodeError(const Error& error) {
  return Message(error, [](const base::JsonSink& to, const void* value) {
    to.Object();
    base::WriteJson(to.Member("error"), *static_cast<const Error*>(value));
  });
}
FrameView EncodeAnswer(const core::Inspection& answer) { return AnswerOf(answer); }
FrameView EncodeAnswer(const core::RewriteOutcome& answer) { return AnswerOf(answer); }
FrameView EncodeAnswer(const core::SpliceOutcome& answer) { return AnswerOf(answer); }
FrameView EncodeAnswer(const core::ExecuteOutcome& answer) { return AnswerOf(answer); }
FrameView EncodeAnswer(const core::TimeOutcome& answer) { return AnswerOf(answer); }
FrameView EncodeAnswer(const core::LiftOutcome& answer) { return AnswerOf(answer); }
FrameView EncodeAnswer(const core::Equivalence& answer) { return AnswerOf(answer); }

Result<core::Inspection> DecodeInspection(Frame frame) { return DecodeAnswer<core::Inspection>(std::move(frame)); }
Result<core::RewriteOutcome> DecodeRewrite(Frame frame) { return DecodeAnswer<core::RewriteOutcome>(std::move(frame)); }
Result<core::SpliceOutcome> DecodeSplice(Frame frame) { return DecodeAnswer<core::SpliceOutcome>(std::move(frame)); }
Result<core::ExecuteOutcome> DecodeExecute(Frame frame) { return DecodeAnswer<core::ExecuteOutcome>(std::move(frame)); }
Result<core::TimeOutcome> DecodeTime(Frame frame) { return DecodeAnswer<core::TimeOutcome>(std::move(frame)); }
Result<core::LiftOutcome> DecodeLift(Frame frame) {
  WW_ASSIGN(core::LiftOutcome outcome, DecodeAnswer<core::LiftOutcome>(std::move(frame)));
  if (const auto* lifted = std::get_if<core::Lifted>(&outcome)) WW_TRY(core::Validate(lifted->computation));
  return outcome;
}
Result<core::Equivalence> DecodeEquivalence(Frame frame) { return DecodeAnswer<core::Equivalence>(std::move(frame)); }

}  // namespace warpwright::worker
