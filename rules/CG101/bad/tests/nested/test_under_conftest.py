def test_fine_by_itself():
    assert True
