# Recipe for Spack: copy to a repository as packages/hydra-dcp/package.py. tests/install/spack.sh compares its options
# with ./configure --help.
from spack.package import *


class HydraDcp(AutotoolsPackage):
    """Dynamic context parallelism inside MPI applications: plan uneven sequences, move their tokens, compute exact
    attention across ranks."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("ucx", default=True, description="Outer ring over UCX")
    variant("fortran", default=True, description="Fortran module hydra")
    variant("presets", default=True, description="Model and cluster presets of hydra-dcp sim")
    variant("openblas", default=False, description="Baseline of hydra-dcp bench kernel")
    # Variants cuda and nccl come with the GPU room: so far there is nothing that they could switch on.
    variant("openmp", default=True, description="Threads in kernels and planners")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("autoconf@2.71:", type="build", when="@main")
    depends_on("automake@1.16:", type="build", when="@main")
    depends_on("libtool@2.4:", type="build", when="@main")
    depends_on("lowdown", type="build", when="@main")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("hwloc@2.1:")
    depends_on("ucx@1.10:", when="+ucx")
    depends_on("libconfig@1.5:", when="+presets")
    depends_on("openblas", when="+openblas")

    def configure_args(self):
        spec = self.spec
        arguments = [f"MPICC={spec['mpi'].mpicc}", f"--with-hwloc={spec['hwloc'].prefix}"]
        if spec.satisfies("+fortran"):
            arguments += ["--enable-fortran", f"MPIFC={spec['mpi'].mpifc}"]
        else:
            arguments += ["--disable-fortran"]
        arguments += ["--disable-openmp"] if spec.satisfies("~openmp") else []
        arguments += [f"--with-ucx={spec['ucx'].prefix}"] if spec.satisfies("+ucx") else ["--without-ucx"]
        arguments += [f"--with-libconfig={spec['libconfig'].prefix}"] if spec.satisfies("+presets") else ["--without-libconfig"]
        arguments += [f"--with-openblas={spec['openblas'].prefix}"] if spec.satisfies("+openblas") else ["--without-openblas"]
        return arguments
