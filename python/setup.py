"""Builds the extension module with the repository's own CMake build; everything else is in pyproject.toml.

CMAKE_ARGS adds options of CMake's, FLAMBEAU_BUILD_DIR names another build folder."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import setuptools
from setuptools.command import build_ext

ROOT = pathlib.Path(__file__).resolve().parent.parent


class CMakeBuild(build_ext.build_ext):
    """Lets CMake build the module, and copies it to where setuptools wants it."""

    def build_extension(self, ext):
        # Beside the other builds, so that a second install takes seconds.
        build = os.environ.get("FLAMBEAU_BUILD_DIR") or ROOT / "build" / f"pip-{sys.implementation.cache_tag}"
        build = pathlib.Path(build).resolve()
        options = [
            "-DCMAKE_BUILD_TYPE=Release",
            "-DFLAMBEAU_PYTHON=ON",
            "-DFLAMBEAU_TESTS=OFF",
            "-DFLAMBEAU_BENCH=OFF",
            "-DFLAMBEAU_EXAMPLES=OFF",
            "-DFLAMBEAU_WERROR=OFF",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]
        try:
            import pybind11

            options.append(f"-Dpybind11_DIR={pybind11.get_cmake_dir()}")
        except ImportError:
            pass  # the system's, where it has one
        if shutil.which("ninja"):
            options += ["-G", "Ninja"]
        if shutil.which("ccache"):
            options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        if shutil.which("ld.lld"):
            options.append("-DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld")
        options += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        subprocess.run(["cmake", "-S", ROOT, "-B", build, *options], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "flambeau_python", "--parallel", jobs], check=True)
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "python" / "flambeau" / target.name, target)


setuptools.setup(
    ext_modules=[setuptools.Extension("flambeau._flambeau", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
