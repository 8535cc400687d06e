import pkg.loaded_elsewhere
