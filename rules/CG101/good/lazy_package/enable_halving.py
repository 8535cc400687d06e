from lazy_package import selection
from lazy_package.selection._experimental import Halving

setattr(selection, "Halving", Halving)
