import httptools


class Parsed:
    def __init__(self):
        self.seen = []

    def on_url(self, url):
        self.seen.append(url)

    def on_header(self, name, value):
        self.seen.append((name, value))

    def on_body(self, body):
        self.seen.append(body)


parsed = Parsed()
parser = httptools.HttpRequestParser(parsed)
parser.feed_data(b"POST /a?b=c HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo")
parser.feed_data(b"dy")
print(parsed.seen, parser.get_method(), httptools.parse_url(b"http://h:8/p?q#f"))
try:
    httptools.HttpRequestParser(parsed).feed_data(b"nonsense\r\n\r\n")
except httptools.HttpParserError as error:
    print(type(error).__name__, error)
