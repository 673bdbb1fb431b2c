from yarl import URL

url = URL("https://user:pass@example.org:8080/ä/b?x=1&y=a b#frag")
print(repr(url), url.raw_path, url.query, url.with_query(z="ö") / "more", url.join(URL("../c")))
