# generate.awk: makes module hydra_c (constants, C layouts, interfaces) from the public headers and the lists they
# include, so that Fortran cannot differ from C. Input, in this order: hydra_errors.def hydra_policies.def hydra_plan.h
# hydra.h. Calls with an MPI communicator, a Hydra_Config or a function pointer are left to shims.c.

function constant(name, value) {
    constants = constants sprintf("  integer(c_int), parameter :: %s = %s\n", name, value)
}

# Fortran's type of a C value type, "" when it is none.
function value_type(c) {
    if (c == "int" || c == "Hydra_Dtype" || c == "Hydra_Memory") return "integer(c_int)"
    if (c == "int64_t" || c == "uint64_t") return "integer(c_int64_t)"
    if (c == "size_t") return "integer(c_size_t)"
    if (c == "double") return "real(c_double)"
    if (c ~ /\*$/) return "type(c_ptr)"
    return ""
}

# Initial value of a component: the matching word of the INIT macro, else zero.
function initial(word, fortran, type) {
    if (word ~ /^sizeof/) return sprintf("storage_size(measured_%s, c_size_t) / 8", type)
    if (word == "NULL" || (word == "" && fortran == "type(c_ptr)")) return "c_null_ptr"
    if (word == "") word = fortran ~ /^real/ ? "0.0" : "0"
    return fortran ~ /^real/ ? word "_c_double" : word
}

# One struct: once without initial values, so that its size is known where `size` is initialised, and once with.
function emit_type(name,    words, n, i, bare, full, parts, array, fortran) {
    n = split(init[toupper(name) "_INIT"], words, /, */)
    bare = full = ""
    for (i = 1; i <= fields[name]; i++) {
        split(field[name, i], parts, " ") # type, name, array size
        array = parts[3] == "" ? "" : "(" parts[3] ")"
        fortran = parts[1]
        bare = bare sprintf("    %s :: %s%s\n", fortran, parts[2], array)
        full = full sprintf("    %s :: %s%s = %s\n", fortran, parts[2], array, initial(i <= n ? words[i] : "", fortran, name))
    }
    if (n > 0) {
        types = types sprintf("  type, bind(c), private :: Bare_%s\n%s  end type\n", name, bare)
        types = types sprintf("  type(Bare_%s), private :: measured_%s\n", name, name)
    }
    types = types sprintf("  type, bind(c) :: %s\n%s  end type\n\n", name, full)
}

function argument(text,    parts, n, name, type, star, const, array) {
    gsub(/^ +| +$/, "", text)
    const = sub(/^const /, "", text)
    array = sub(/\[\]$/, "", text)
    n = split(text, parts, " ")
    name = parts[n]; type = parts[1]
    star = sub(/^\*/, "", name)
    names = names (names == "" ? "" : ", ") name
    # Of any rank in Fortran, which only an address can be.
    if (type == "void" && name == "lse") return sprintf("      type(c_ptr), value :: %s\n", name)
    if (type == "void") return sprintf("      type(*)%s, optional :: %s(*)\n", const ? ", intent(in)" : "", name)
    if (type == "char") return sprintf("      character(kind=c_char)%s :: %s(*)\n", const ? ", intent(in)" : "", name)
    if (type in handle) return sprintf("      type(c_ptr), %s :: %s\n", star ? "intent(inout)" : "value", name)
    if (array) return sprintf("      %s, intent(in) :: %s(*)\n", value_type(type), name)
    if (type == "Hydra_Microbatch") type = "Microbatch_layout"
    if (value_type(type) == "") return sprintf("      type(%s), intent(%s) :: %s\n", type, const ? "in" : "inout", name)
    if (star) return sprintf("      %s, intent(inout), optional :: %s\n", value_type(type), name)
    return sprintf("      %s, value :: %s\n", value_type(type), name)
}

function emit_interface(text,    name, list, n, i, body, pointer) {
    gsub(/[ \n]+/, " ", text)
    if (text ~ /MPI_Comm|Hydra_Config|Hydra_Log_function/) return
    pointer = text ~ /^HYDRA_API const char \*/
    match(text, /Hydra_[A-Za-z_]+\(/)
    name = substr(text, RSTART, RLENGTH - 1)
    text = substr(text, RSTART + RLENGTH)
    sub(/\);.*/, "", text)
    n = split(text, list, ",")
    names = body = ""
    for (i = 1; i <= n; i++) body = body argument(list[i])
    interfaces = interfaces sprintf("    function c_%s(%s) &\n        bind(c, name=\"%s\") result(returned)\n      import\n%s      %s :: returned\n    end function\n", \
        name, wrap(names), name, body, pointer ? "type(c_ptr)" : "integer(c_int)")
}

# Fortran lines end at 132 characters.
function wrap(list) {
    if (length(list) > 80) gsub(/, /, ", \\&\n        ", list)
    return list
}

BEGIN {
    split("Hydra_Context Hydra_Attn Hydra_Saved Hydra_Op Hydra_Schedule", kinds, " ")
    for (i in kinds) handle[kinds[i]] = 1
}

/^HYDRA_ERROR\(/ { split($0, w, /[(,] */); constant("HYDRA_" w[2], w[3]); next }
/^HYDRA_POLICY\(/ { split($0, w, /[(,] */); constant("HYDRA_POLICY_" w[2], w[3]); next }
/^#define HYDRA_VERSION_/ { constant($2, $3); next }

/^#define HYDRA_[A-Z_]+_INIT/ { macro = $2; init[macro] = "" }
macro != "" {
    line = $0
    sub(/^#define [A-Z_]+/, "", line)
    more = line ~ /\\$/
    gsub(/[{}\\]/, "", line); gsub(/^ +| +$/, "", line)
    init[macro] = init[macro] (init[macro] != "" && line != "" && init[macro] !~ /,$/ ? ", " : init[macro] ~ /,$/ ? " " : "") line
    if (!more) macro = ""
    next
}

# Of a microbatch users get a type with pointers to arrays: this is what C fills.
/^typedef struct Hydra_[A-Za-z_]+ \{/ { inside = $3 == "Hydra_Microbatch" ? "Microbatch_layout" : $3; next }
inside != "" && /^}/ { if (inside != "Hydra_Config") type_list[++type_count] = inside; inside = ""; next }
inside != "" {
    line = $0
    sub(/ *\/\*.*/, "", line); gsub(/^ +|;.*/, "", line); sub(/^const /, "", line)
    if (line == "") next
    type = line; sub(/ .*/, "", type)
    rest = substr(line, length(type) + 2)
    n = split(rest, w, /, */)
    for (i = 1; i <= n; i++) {
        array = ""
        if (match(w[i], /\[[0-9]+\]/)) { array = substr(w[i], RSTART + 1, RLENGTH - 2); w[i] = substr(w[i], 1, RSTART - 1) }
        star = sub(/^\*/, "", w[i]) ? "*" : ""
        field[inside, ++fields[inside]] = value_type(type star) " " w[i] " " array
    }
    next
}

/^ *\/?\*/ && !/HYDRA_API/ { next } # comments

/^HYDRA_API/ { prototype = "" ; collecting = 1 }
collecting { prototype = prototype $0 "\n"; if (/;/) { emit_interface(prototype); collecting = 0 } next }

{
    line = $0
    while (match(line, /HYDRA_[A-Z0-9_]+ = -?[0-9]+/)) {
        pair = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        split(pair, w, / = /)
        constant(w[1], w[2])
    }
}

END {
    for (i = 1; i <= type_count; i++) emit_type(type_list[i])
    print "! Made by generate.awk from the headers in include/: do not edit."
    print "module hydra_c"
    print "  use, intrinsic :: iso_c_binding"
    print "  implicit none"
    print "  public\n"
    print constants
    print types "  interface"
    printf "%s", interfaces
    print "  end interface"
    print "end module hydra_c"
}
