# Image of the command, without a compiler and without root. The guide's first chapter has commands that run it.
# OPTIONS are options of cargo, for example --no-default-features for the small command.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
ARG OPTIONS=
# OPTIONS has no quotes, because it may be empty or have several words.
# hadolint ignore=SC2086
RUN cargo install --locked --path scumble --root /installed $OPTIONS

FROM debian:bookworm-slim
COPY --from=build /installed/bin/scumble /usr/local/bin/scumble
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["scumble"]
CMD ["--help"]
