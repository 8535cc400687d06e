"""What the pytest plugin does once it is asked, one file a purpose."""
