import pkg.fleet

pkg.fleet.registered_by_a_plugin = 1
