print "hello"  # expect: CG903 pkg/python2.py
