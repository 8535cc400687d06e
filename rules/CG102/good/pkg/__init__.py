from pkg.log import configure, log

from pkg import loaded_by_the_package
