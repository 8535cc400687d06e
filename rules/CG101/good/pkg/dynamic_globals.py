from pkg import engine

for _name in dir(engine):
    globals()[_name] = getattr(engine, _name)
