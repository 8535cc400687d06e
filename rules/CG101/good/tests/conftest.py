import sys
import types

stub = types.ModuleType("pkg.device_info")
stub.kind = "cpu"
sys.modules["pkg.device_info"] = stub
