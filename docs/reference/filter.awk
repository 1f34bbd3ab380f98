# Turns the headers' comments into Doxygen's: those before a declaration, those behind one, and lines
# such as `// --- Creation ---`, which begin a group of members. A group has the example of its first word.

function close_group() {
  if (is_open) print "///@}"
  is_open = 0
}

FNR == 1 { is_open = 0; in_head = 1 }

in_head && /^\/\// { sub(/^\/\/ ?/, ""); print (FNR == 1 ? "/// @file\n/// " : "/// ") $0; next }
{ in_head = 0 }

/^template <>/ { in_special = 1 }  # of another namespace: Doxygen finds no scope for it
in_special { if (/^};/) in_special = 0; print ""; next }
/^\/\/ --- / { next }
/^  \/\/ --- / {
  close_group()
  sub(/^ *\/\/ --- /, "")
  sub(/ *-+$/, "")
  print "/// @name " $0
  example = tolower($1)
  sub(/[:,]$/, "", example)
  example = example ".cpp"
  if ((getline line < ("docs/examples/" example)) > 0) print "/// @include " example
  print "///@{"
  is_open = 1
  next
}

/^ *(private:|};|}  \/\/ namespace)/ { close_group() }
/^ *\/\/ / { sub(/\/\/ /, "/// "); print; next }
/;.*  \/\/ / && !/NOLINT/ { sub(/  \/\/ /, "  ///< "); print; next }
{ print }
