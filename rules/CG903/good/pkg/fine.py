# -*- coding: latin-1 -*-
value = "any file that Python itself can read"
