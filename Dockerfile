# A machine with nothing but Debian, multipy built on it, and the demo.
#
#   docker build -t multipy .
#   docker run --rm multipy
#   docker run --rm multipy scripts/test
FROM debian:bookworm
WORKDIR /multipy

# What changes seldom first: packages, environment, torch.
COPY scripts scripts
COPY examples examples
RUN scripts/setup

COPY . .
RUN scripts/build
CMD ["scripts/demo"]
