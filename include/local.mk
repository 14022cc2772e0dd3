include_HEADERS = include/hydra.h include/hydra_plan.h include/hydra_errors.def include/hydra_policies.def
