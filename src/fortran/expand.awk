# expand.awk: makes the specific procedures for every rank and kind of buffers from buffers.f90.in.
# -v interfaces=1: their generic interfaces instead.

function expand(text, suffix, dims, element, bytes, lse,    name) {
    gsub(/@S@/, suffix, text); gsub(/@D@/, dims, text); gsub(/@E@/, element, text)
    gsub(/@B@/, bytes, text); gsub(/@L@/, lse, text)
    if (interfaces) {
        while (match(text, /\n  subroutine [A-Za-z_0-9]+/)) {
            name = substr(text, RSTART + 14, RLENGTH - 14)
            text = substr(text, RSTART + RLENGTH)
            generic = substr(name, 1, length(name) - length(suffix) - 1)
            if (!(generic in specifics)) order[++generics] = generic
            specifics[generic] = specifics[generic] "    module procedure " name "\n"
            private = private "  private :: " name "\n"
        }
    } else printf "%s", text
}

/^!/ { next }
/^===/ { part = 1; next }
{ template[part + 0] = template[part + 0] $0 "\n" }

END {
    split("real(c_float) real(c_double) integer(c_int16_t)", elements, " ")
    split("4 8 2", bytes, " ")
    split("real(c_float) real(c_double) real(c_float)", lses, " ")
    split("r4 r8 i2", kinds, " ")
    print "! Made by expand.awk from buffers.f90.in: do not edit."
    for (rank = 1; rank <= 4; rank++) {
        dims = dims (rank > 1 ? "," : "") ":"
        expand("\n" template[0], "rank" rank, dims)
        for (kind = 1; kind <= 3; kind++)
            expand("\n" template[1], kinds[kind] "_rank" rank, dims, elements[kind], bytes[kind], lses[kind])
    }
    for (i = 1; i <= generics; i++)
        printf "  interface %s\n%s  end interface\n", order[i], specifics[order[i]]
    printf "%s", private
}
