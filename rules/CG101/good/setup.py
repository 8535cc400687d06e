from setuptools import Extension, setup

# Writes pkg/_build_info.py, and builds pkg/_kernels from C++.
setup(name="pkg", ext_modules=[Extension("pkg._kernels", ["csrc/kernels.cpp"])])
