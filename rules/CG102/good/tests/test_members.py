"""Attributes that a class has, though its body does not bind them."""

from pkg import members


def test_members():
    assert members.StoredBelow.stored
    assert members.ByType.by_type
    assert members.ByType.by_class
    assert members.Filled.computed
    assert members.Looped.computed
    assert members.Registered.computed
    assert members.Row.first
    assert members.Row._fields
    assert members.Fields.size
    assert members.Fields.made
    assert members.Values.FIRST.value
    assert members.Values.__members__
    assert members.Unknown.objects
    assert members.Traced.span
    assert members.Outer.Inner.late
