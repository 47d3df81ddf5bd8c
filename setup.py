"""Puts the networks of model/ into the package when a wheel is built; everything else is declared in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithModel(build_py):
    """A checkout plays with the networks of model/, an installed package with its own copy, pydlshogi/model/."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree(ROOT / "model", Path(self.build_lib) / "pydlshogi" / "model", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithModel})
