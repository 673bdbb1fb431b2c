import tiktoken

ranks = {bytes([i]): i for i in range(256)} | {b"th": 256, b"the": 257, b"in": 258, b"ing": 259}
encoding = tiktoken.Encoding("small", pat_str=r"\w+|\s+|[^\w\s]+", mergeable_ranks=ranks, special_tokens={"<end>": 260})
tokens = encoding.encode("the thing, singing<end>", allowed_special="all")
print(tokens, encoding.decode(tokens), encoding.encode_batch(["the", "in"], num_threads=2))
try:
    encoding.encode("<end>")
except ValueError as error:
    print(str(error)[:40])
