// Linked behind the launcher; see state_begin.cpp.
namespace ww {
alignas(8) char data_end[8] = {1};
alignas(8) char bss_end[8];
}  // namespace ww
