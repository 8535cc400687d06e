FIXTURES = "fixtures"
