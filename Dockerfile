# multipy on a machine with nothing but Debian, in stages:
#
#   system    what is needed to build: packages, a Python environment with torch
#   build     the library, tests, examples, benchmarks; the demo's model exported
#   test      all tests passed                     docker build --target test .
#   service   what a service ships: the environment, one program, its model
#
#   docker build -t multipy . && docker run --rm multipy
#
# Without Docker: scripts/image [--target STAGE], as root.
FROM debian:bookworm AS system
WORKDIR /multipy
COPY scripts scripts
COPY examples examples
RUN scripts/setup

FROM system AS build
COPY . .
RUN scripts/build
RUN scripts/demo

FROM build AS test
RUN scripts/test

FROM debian:bookworm-slim AS service
RUN apt-get update && apt-get install -y --no-install-recommends python3 libexpat1 zlib1g
WORKDIR /multipy
COPY --from=build /multipy/.venv .venv
COPY --from=build /multipy/build/examples/03_sentence_search/03_sentence_search bin/
COPY --from=build /multipy/build/demo/03_sentence_search model
COPY examples/03_sentence_search/corpus.txt model/
ENV VIRTUAL_ENV=/multipy/.venv
CMD ["bin/03_sentence_search", "model/sentence_encoder.pt", "model/reference.pt", "model/corpus.txt"]
