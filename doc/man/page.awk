# page.awk: fills the directives of a manual page's Markdown source, so that what stands in the code is not written twice.
# Input: the headers, the lists (*.def), the Fortran sources, at last the page. Directives stand alone on a line:
#   @synopsis NAME     C prototype and Fortran interface of a public call
#   @description NAME  the comment above it in the header
#   @about NAME        the comment above a public struct
#   @struct NAME       its fields
#   @errors @policies @environment @ranges    the lists
#   @commands          every command of hydra-dcp from its own --help (-v program=...; prose from hydra-dcp-NAME.md)

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
function escape(text) { gsub(/[*_<\\]/, "\\\\&", text); return text }

# --- C -------------------------------------------------------------------------------------------------------------

FILENAME ~ /\.h$/ && /^\/\*\*/ { comment = ""; in_comment = 1 }
FILENAME ~ /\.h$/ && in_comment {
    line = $0
    sub(/^\/\*\*[ ]?/, "", line); end = sub(/ *\*\/.*/, "", line); sub(/^ \* ?/, "", line)
    if (line == " *") line = ""
    comment = comment line "\n"
    if (end) in_comment = 0
    next
}
FILENAME ~ /\.h$/ && /^HYDRA_(API|HOOK) / { prototype = ""; in_prototype = 1 }
FILENAME ~ /\.h$/ && in_prototype {
    line = $0; hook = sub(/^HYDRA_HOOK /, "", line); sub(/^HYDRA_API /, "", line)
    # Continuation lines keep their indentation, less the width of the word HYDRA_API.
    if (prototype != "") sub(/^          /, "", line)
    prototype = prototype "    " line "\n"
    if (/;/) {
        in_prototype = 0
        match(prototype, /Hydra_[A-Za-z_]+\(/)
        name = substr(prototype, RSTART, RLENGTH - 1)
        if (hook) hooks[name]
        c[name] = prototype; said[name] = comment; header[name] = FILENAME; sub(/.*\//, "", header[name])
    }
    next
}
FILENAME ~ /\.h$/ && /^typedef struct Hydra_[A-Za-z_]+ \{/ { struct = $3; about[struct] = comment; next }
FILENAME ~ /\.h$/ && /^}/ && struct != "" { struct = ""; next }
FILENAME ~ /\.h$/ && struct != "" {
    text = ""; line = trim($0)
    if (match(line, /\/\*.*\*\//)) { text = trim(substr(line, RSTART + 2, RLENGTH - 4)); line = trim(substr(line, 1, RSTART - 1)) }
    sub(/;$/, "", line)
    if (line != "") fields[struct] = fields[struct] "`" line "`\n: " (text == "" ? "see above" : escape(text)) "\n\n"
    next
}

# --- Lists -----------------------------------------------------------------------------------------------------------

function quoted(line, n,    parts) { split(line, parts, "\""); return parts[2 * n] }
/^HYDRA_ERROR\(/ { split($0, w, /[(,] */); errors = errors "`HYDRA_" w[2] "` (" w[3] ")\n: " escape(quoted($0, 1)) "\n\n"; next }
/^HYDRA_POLICY\(/ { split($0, w, /[(,] */); policies = policies "`HYDRA_POLICY_" w[2] "`, **" quoted($0, 1) "**\n: " escape(quoted($0, 2)) "\n\n"; next }
/^HYDRA_RANGE\(/ { ranges = ranges "`" quoted($0, 1) "`\n: " escape(quoted($0, 2)) "\n\n"; next }
/^HYDRA_CONFIG\(/ { environment = environment "`" quoted($0, 1) "` (default: " (quoted($0, 2) == "" ? "empty" : "`" quoted($0, 2) "`") ")\n: " escape(quoted($0, 3)) "\n\n"; next }

# --- Fortran: the first line of a procedure, joined, and the declarations of its arguments ---------------------------

FILENAME ~ /\.(f90|in)$/ && /^ *interface Hydra_/ { generic = $2; next }
FILENAME ~ /\.(f90|in)$/ && /^ *end interface/ { generic = ""; next }
FILENAME ~ /\.(f90|in)$/ && /^ *module procedure / && generic != "" {
    sub(/^ *module procedure /, "")
    n = split($0, w, /, */)
    for (i = 1; i <= n; i++) generic_of[w[i]] = generic
    next
}
FILENAME ~ /\.(f90|in)$/ && /^  (subroutine|function) / {
    line = trim($0)
    match(line, /[A-Za-z_0-9@]+\(/)
    procedure = substr(line, RSTART, RLENGTH - 1)
    name = procedure in generic_of ? generic_of[procedure] : procedure
    sub(/_@S@$/, "", name)
    sub(procedure, name, line)
    arguments = "," line ","; gsub(/[()]/, ",", arguments); gsub(/[^A-Za-z_0-9,]/, "", arguments)
    if (name !~ /^Hydra_/) { procedure = ""; next }
    f[name] = f[name] (name in f ? "\n" : "") "    " wrap(line) "\n"
    next
}
FILENAME ~ /\.(f90|in)$/ && /^$/ { procedure = "" }
FILENAME ~ /\.(f90|in)$/ && procedure != "" && / :: / {
    line = trim($0)
    names = substr(line, index(line, "::") + 2); gsub(/\([^)]*\)/, "", names); gsub(/[ ]|!.*/, "", names); sub(/,.*/, "", names)
    gsub(/@D@/, "..", line)
    if (line ~ /@E@/) { sub(/@E@/, "BUFFER", line) }
    gsub(/@L@/, "real(4 or 8)", line)
    if (index(arguments, "," names ",")) f[name] = f[name] "      " line "\n"
    next
}

function wrap(line,    cut) {
    if (length(line) <= 96) return line
    cut = 90
    while (substr(line, cut, 1) != ",") cut--
    return substr(line, 1, cut) " &\n        " wrap_rest(trim(substr(line, cut + 1)))
}
function wrap_rest(line) { return line }

# --- The page ----------------------------------------------------------------------------------------------------------

function synopsis(name) {
    print "C:\n\n    #include <" header[name] ">\n\n" c[name]
    if (name in hooks) return # not the module's, but the program's
    print "Fortran:\n\n    use " (header[name] == "hydra.h" ? "hydra" : "hydra_serial   ! or hydra") "\n\n" f[name]
    if (f[name] ~ /BUFFER/) print "`BUFFER` is `real(c_float)`, `real(c_double)` or `integer(c_int16_t)`; `(..)` is one rank from 1 to 4, the same for all.\n"
    else if (f[name] ~ /\(\.\.\)/) print "`(..)` is one rank from 1 to 4, the same for both.\n"
}

# Lines "name  [in]  text" become terms; deeper lines continue them; the rest are paragraphs.
function description(text, returns,    lines, n, i, line, open) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        line = lines[i]
        if (match(line, /^[a-z_, ]+\[(in|out|in,out)\] */)) {
            term = trim(substr(line, 1, index(line, "[") - 1))
            kind = substr(line, index(line, "["), index(line, "]") - index(line, "[") + 1)
            print (open ? "\n" : "") "`" term "` \\" kind "\n: " escape(trim(substr(line, RLENGTH + 1)))
            open = 1
        } else if (line ~ /^Returns /) {
            print (open ? "\n" : "") "\n# RETURN VALUE\n\n" escape(line)
            open = 0; returned = 1
        } else if (open && line ~ /^ +[^ ]/) print "  " escape(trim(line))
        else { open = 0; print escape(line) }
    }
    if (!returns) return
    if (!returned) print "\n# RETURN VALUE\n\nHYDRA\\_SUCCESS or a code of **hydra-dcp**(7)."
    print "\n**Hydra\\_Error\\_detail**(3) tells what exactly went wrong.\n"
}

function shell(command,    line, text) {
    while ((command | getline line) > 0) text = text line "\n"
    close(command)
    return text
}

# One command: its usage and options as a list, then its prose; its own commands after it.
function command(words, level,    help, lines, n, i, inside, prose, line, sub_words, name, text) {
    help = shell(program " " words " --help 2>&1 </dev/null")
    n = split(help, lines, "\n")
    print level " " words "\n"
    inside = ""
    for (i = 1; i <= n; i++) {
        line = lines[i]
        if (line ~ /^Options:/) { inside = "options"; continue }
        if (line ~ /^[A-Z][a-z]*s:$/) { inside = "commands"; print ""; continue }
        if (inside == "" && line ~ /^usage: /) { print "`" substr(line, 8) "`\n"; continue }
        if (inside == "options" && line ~ /^  --/) {
            line = trim(line)
            at = match(line, /  +/)
            if (!at) { text = line; sub(/^--[^ ]+( [^ ]+)? /, "", text); at = length(line) - length(text); line = substr(line, 1, at - 1) "  " text }
            print "`" trim(substr(line, 1, at - 1)) "`\n: " escape(trim(substr(line, at))) "\n"
        } else if (inside == "options" && line != "") print "  " escape(trim(line)) "\n"
        else if (inside == "") print escape(line)
    }
    print ""
    name = words; gsub(/ /, "-", name)
    prose = folder "/hydra-dcp-" name ".md"
    while ((getline line < prose) > 0) print line
    close(prose)
    print ""
    for (i = 1; i <= n; i++) {
        if (lines[i] ~ /^[A-Z][a-z]*s:$/ && lines[i] !~ /^Options/) { inside = "list"; continue }
        if (inside == "list" && match(lines[i], /^  [a-z][a-z0-9-]* /)) { sub_words = words " " trim(substr(lines[i], 1, RLENGTH)); command(sub_words, level) }
        else if (lines[i] !~ /^  /) inside = ""
    }
}

function commands(    help, lines, n, i, inside) {
    help = shell(program " --help")
    n = split(help, lines, "\n")
    for (i = 1; i <= n; i++) {
        if (lines[i] ~ /^Commands:/) { inside = 1; continue }
        if (inside && match(lines[i], /^  [a-z][a-z0-9-]* /)) command(trim(substr(lines[i], 1, RLENGTH)), "##")
    }
}

FILENAME ~ /\.md$/ && /^@synopsis/ { synopsis($2); next }
FILENAME ~ /\.md$/ && /^@description/ { description(said[$2], !($2 in hooks)); next }
FILENAME ~ /\.md$/ && /^@about/ { print escape(about[$2]); next }
FILENAME ~ /\.md$/ && /^@struct/ { printf "%s", fields[$2]; next }
FILENAME ~ /\.md$/ && /^@errors/ { printf "%s", errors; next }
FILENAME ~ /\.md$/ && /^@policies/ { printf "%s", policies; next }
FILENAME ~ /\.md$/ && /^@environment/ { printf "%s", environment; next }
FILENAME ~ /\.md$/ && /^@ranges/ { printf "%s", ranges; next }
FILENAME ~ /\.md$/ && /^@commands/ { folder = FILENAME; sub(/\/[^\/]*$/, "", folder); commands(); next }
FILENAME ~ /\.md$/ { print }
