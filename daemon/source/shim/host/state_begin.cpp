// Linked in front of the launcher: the variables of its file lie between this and state_end.cpp.
namespace ww {
alignas(8) char data_begin[8] = {1};
alignas(8) char bss_begin[8];
}  // namespace ww
