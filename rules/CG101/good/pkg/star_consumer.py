from pkg.star_all import *
