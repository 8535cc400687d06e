def wait_until_free():
    return lambda function: function
