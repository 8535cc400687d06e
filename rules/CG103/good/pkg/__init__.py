from pkg.shadowed import shadowed
