"""A function that a traced module calls and does not look into."""


def shifted(tensor, by):
    return tensor + by
