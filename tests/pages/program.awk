# Makes a C++ source of a page: its ```cpp blocks. One that a ```text block follows is an example, a
# function of its own; any other declares what later ones use. A whole program is an example, too.
# Usage: awk -v name=PAGE -f program.awk PAGE.md

function finish(is_example, i, whole) {
  if (!lines) return
  for (i = 1; i <= lines; i++) if (line[i] ~ /^int main\(\)/) whole = 1
  if (is_example) examples++
  if (is_example && !whole) body = body "void example_" examples "() {\n"
  body = body "#line " first " \"" FILENAME "\"\n"
  for (i = 1; i <= lines; i++) {
    if (line[i] ~ /^(#include|using namespace weft;)/) {
      if (line[i] ~ /^#include/) includes = includes line[i] "\n"
      line[i] = ""
    }
    sub(/^int main\(\)/, "void example_" examples "()", line[i])
    body = body line[i] "\n"
  }
  if (is_example && !whole) body = body "}\n"
  lines = 0
}

/^```/ && !inside {
  inside = substr($0, 4)
  finish(inside == "text")
  if (inside == "cpp") first = NR + 1
  next
}
/^```/ { inside = ""; next }
inside == "cpp" { line[++lines] = $0 }

END {
  finish(0)
  printf "%s#include \"page.h\"\n\nusing namespace weft;\n\nnamespace {\n\n%s\n", includes, body
  printf "const pages::AddedPage page(\"%s\", {", name
  for (i = 1; i <= examples; i++) printf "%s%s", (i > 1 ? ", " : ""), "example_" i
  printf "});\n\n}  // namespace\n"
}
