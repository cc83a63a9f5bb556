# The service as an image. Build: everything npm needs, compiled and pruned. Run: that tree, owned by root, and a browser.

FROM node:22-bookworm-slim AS build
WORKDIR /app
# The packages first: they change less often than the sources. Not `npm ci`, which refuses a lock file without other platforms' packages.
COPY package.json package-lock.json .npmrc ./
COPY server/start/trim-packages.mjs server/start/
RUN npm install
COPY . .
RUN npm run build
# The image has a Node of its own.
RUN npm prune --omit=dev && rm -rf dist/test node_modules/node-linux-* node_modules/.bin/node

FROM node:22-bookworm-slim
# tini collects the processes that a browser leaves behind.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates chromium-headless-shell fonts-liberation tini \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin service \
    && install --directory --owner=service --group=service --mode=0700 /data
WORKDIR /app
COPY --from=build /app/package.json /app/package-lock.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/storage/migrations storage/migrations
COPY --from=build /app/server/openapi/page server/openapi/page
COPY --from=build /app/dist dist
# What is not data is written to /tmp alone, so that all else may be read-only.
ENV HOME=/tmp \
    NODE_ENV=production \
    HOST=0.0.0.0 \
    METRICS_HOST=0.0.0.0 \
    DATA_DIR=/data \
    LOG_FORMAT=json \
    BROWSER_SANDBOX=on
USER 10001
VOLUME /data
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--"]
CMD ["node", "dist/server/main.js"]
