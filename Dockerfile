# The gateway as an image: built in one stage, its production dependencies installed in another, and only what serving
# needs in the last. `docker build -t switchyard .`

# The digest names the index of all platforms.
ARG NODE=node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY docs/package.json docs/package-lock.json docs/.npmrc docs/
RUN npm ci && npm ci --prefix docs
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
COPY ui ui
COPY docs docs
RUN node scripts/build.mjs

FROM ${NODE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The driver of SQLite brings its sources and builds for six platforms, 18 MB that the image never reads.
RUN npm ci --omit=dev && cd node_modules/@photostructure/sqlite && rm -r src && rm -r prebuilds/darwin-* prebuilds/win32-*

FROM ${NODE}
LABEL org.opencontainers.image.title="switchyard" \
      org.opencontainers.image.description="A model-routing gateway for language models" \
      org.opencontainers.image.licenses="MIT"
# Without sources beside it the command neither installs nor builds anything; it serves what is here.
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY scripts/launch.mjs scripts/launch.mjs
# The data folder belongs to the user that serves; a volume mounted here for the first time takes that over. It is no VOLUME,
# because Railway builds no image with one. The link is for `docker exec NAME switchyard …`, which hints name because of IN_CONTAINER.
RUN mkdir /data && chown 1000:1000 /data && ln -s /app/bin/switchyard.mjs /usr/local/bin/switchyard
ENV IN_CONTAINER=1 NODE_ENV=production HOST=0.0.0.0 PORT=8787 SWITCHYARD_DATA=/data
# By number, so that Kubernetes can see that it is not root. `--build-arg RUN_AS=0:0` is for hosts whose volumes belong to root,
# such as Fly and Render. A configuration file is looked for in the working folder.
ARG RUN_AS=1000:1000
USER ${RUN_AS}
WORKDIR /config
EXPOSE 8787
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1 and handles SIGTERM itself: requests are taken for a moment longer, open streams finish.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=32", "/app/bin/switchyard.mjs"]
CMD ["serve"]
