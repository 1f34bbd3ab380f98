# Finds what a page runs and what it says that this prints: into DIR/N.run the command, where the N-th
# ```cpp or ```sh block is followed by a ```text block, and into DIR/N.text the text.
# Usage: awk -v dir=DIR -v name=PAGE -f split.awk PAGE.md

/^```/ && !inside {
  inside = substr($0, 4)
  if (inside == "text" && before != "") {
    pairs++
    if (before == "cpp") script = "weft_pages " name " " ++examples "\n"
    printf "%s", script > (dir "/" pairs ".run")
    printf "" > (dir "/" pairs ".text")
    texts = 1
  }
  script = ""
  next
}
/^```/ {
  before = inside == "cpp" || inside == "sh" ? inside : ""
  inside = ""
  texts = 0
  next
}
texts { print > (dir "/" pairs ".text") }
inside == "sh" { script = script $0 "\n" }

END { print pairs + 0 }
