# A header as a page of the manual: what its comments say, each above what it is about.
# Usage: awk -v title=WEFT_C -v version=0.1.0 -f header_manual.awk weft_c.h
function plain(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  if (text ~ /^[.']/) text = "\\&" text
  return text
}
function say_comment(line) {
  sub(/^ *\/?\*+ ?/, "", line)
  sub(/ *\*\/$/, "", line)
  if (line ~ /^-+/) {
    gsub(/^-+ | -+$/, "", line)
    print ".SH \"" toupper(line) "\""
  } else if (line ~ /^  /) {
    print ".br\n" plain(line)
  } else {
    print line == "" ? ".PP" : plain(line)
  }
}
BEGIN {
  print ".TH " title " 3 \"\" \"weft " version "\""
  print ".SH NAME\n" tolower(title) " \\- models in C\n.SH SYNOPSIS\n.nf"
  print "#include <weft/" tolower(title) ".h>\n.PP\ncc ... \\-lweft\\-run\n.fi\n.SH DESCRIPTION"
}
/^#|^extern "C"|^}$|^$/ { code = 0; next }
/^\/\*/ { comment = 1; if (first++) print ".PP" }
comment { say_comment($0); if (/\*\//) comment = 0; next }
{
  sub(/^WEFT_C_API /, "")
  if (!code++) print ".PP"
  print ".nf\n.B \"" plain($0) "\"\n.fi"
}
