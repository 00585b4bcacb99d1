# The program alone, as a user who is not root; views and users live in the volume /data.
FROM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY client/package.json ./client/
COPY web/package.json ./web/
# No install script is needed here: Node is there, and better-sqlite3 brings its binary inside the package.
RUN npm ci --ignore-scripts
COPY . .
RUN npx tsc -p tsconfig.build.json && npx tsc -p demo && node web/build.ts
# What npm would install of the package: its files, and the locked packages of production alone.
RUN npm pack --ignore-scripts && mkdir /app && tar -xzf holdfast-*.tgz -C /app --strip-components=1 && cp package-lock.json /app
RUN cd /app && npm ci --omit=dev --ignore-scripts --workspaces=false

FROM node:24.21.0-slim
ENV NODE_ENV=production HOLDFAST_DATA=/data HOLDFAST_HOST=0.0.0.0
# As in deploy/holdfast.service: memory that is not used is given back.
ENV NODE_OPTIONS=--max-semi-space-size=16 MALLOC_ARENA_MAX=2
WORKDIR /holdfast
COPY --from=build /app ./
RUN install -d -o node -g node -m 0700 /data
# By its number, which Kubernetes knows not to be root's: node.
USER 1000:1000
VOLUME /data
EXPOSE 8080
# Asks at the port that the first process, the service, was given: by an option, by the environment or in its configuration file.
HEALTHCHECK --start-period=30s CMD ["node", "-e", "\
  const { readFileSync } = require('node:fs'); \
  const args = readFileSync('/proc/1/cmdline', 'utf8').split(/\\0|(?<=\\0--(?:port|config))=/); \
  const option = (name) => args[args.lastIndexOf(name) + 1 || args.length]; \
  const file = option('--config') ?? process.env.HOLDFAST_CONFIG; \
  const inFile = file && JSON.parse(readFileSync(file, 'utf8')).port; \
  const port = [option('--port'), process.env.HOLDFAST_PORT, inFile].find((given) => /^[0-9]+$/.test(given)) ?? 8080; \
  fetch('http://127.0.0.1:' + port + '/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1)); \
"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
