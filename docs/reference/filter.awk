# Turns the headers' comments into Doxygen's: those before a declaration, those behind one, and lines
# such as `// --- Creation ---`, which begin a group of members. A group has the example of its first word, a header
# that of its own name.

function close_group() {
  if (is_open) print "///@}"
  is_open = 0
}

function example_of(name) {
  if ((getline line < ("docs/examples/" name ".cpp")) > 0) print "/// @include " name ".cpp"
}

FNR == 1 { is_open = 0; in_head = 1 }

in_head && /^\/\// { sub(/^\/\/ ?/, ""); print (FNR == 1 ? "/// @file\n/// " : "/// ") $0; next }
in_head {
  in_head = 0
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.h$/, "", name)
  example_of(name)
}

/^template <>/ { in_special = 1 }  # of another namespace: Doxygen finds no scope for it
in_special { if (/^};/) in_special = 0; print ""; next }
/^\/\/ --- / { next }
/^  \/\/ --- / {
  close_group()
  sub(/^ *\/\/ --- /, "")
  sub(/ *-+$/, "")
  print "/// @name " $0
  group = tolower($1)
  sub(/[:,.]$/, "", group)
  example_of(group)
  print "///@{"
  is_open = 1
  next
}

/^ *(private:|};|}  \/\/ namespace)/ { close_group() }
/^ *\/\/ / { sub(/\/\/ /, "/// "); print; next }
/;.*  \/\/ / && !/NOLINT/ { sub(/  \/\/ /, "  ///< "); print; next }
{ print }
