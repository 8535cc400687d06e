shared_value = 1
injected = 2
