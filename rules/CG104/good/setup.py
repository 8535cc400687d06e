from setuptools import Extension, setup

setup(
    ext_modules=[Extension("pkg._native", ["src/native.c"])],
    package_data={"pkg.third_party": ["*"]},
)
# The build copies the sources of a dependency into pkg/third_party and writes pkg/_build_meta.py.
