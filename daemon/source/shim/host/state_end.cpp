// Linked behind the launcher; see state_begin.cpp.
namespace ww {
char data_end[8] = {1};
char bss_end[8];
}  // namespace ww
