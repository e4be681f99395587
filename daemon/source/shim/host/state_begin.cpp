// Linked in front of the launcher: the variables of its file lie between this and state_end.cpp.
namespace ww {
char data_begin[8] = {1};
char bss_begin[8];
}  // namespace ww
