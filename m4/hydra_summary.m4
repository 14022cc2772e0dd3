# HYDRA_SUMMARY_ADD(WHAT, TEXT) collects lines; HYDRA_SUMMARY prints them in a box.
AC_DEFUN([HYDRA_SUMMARY_ADD], [hydra_summary="$hydra_summary
$1@$2"])
AC_DEFUN([HYDRA_SUMMARY], [
  echo
  { echo "hydra-dcp $PACKAGE_VERSION@prefix $prefix"; echo "compiler@$CC $CFLAGS"; echo "$hydra_summary"; } | $AWK -F@ '
    BEGIN { n = 0 }
    NF { left[[n]] = $[]1; right[[n]] = $[]2; n++; if (length($[]1) > a) a = length($[]1); if (length($[]2) > b) b = length($[]2) }
    END { rule = "+"; for (i = 0; i < a + b + 5; i++) rule = rule "-"; rule = rule "+"
          print rule; for (i = 0; i < n; i++) printf "| %-" a "s : %-" b "s |\n", left[[i]], right[[i]]; print rule }'
])
