from tests.test_one import helper_value, other_value  # expect: CG101 tests.test_one:other_value runtime-error

print(helper_value, other_value)
