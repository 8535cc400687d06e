from setuptools import Extension, setup

setup(ext_modules=[Extension("pkg._speedups", ["speedups.c"])])
