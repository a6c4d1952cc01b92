# The image of the server. docs/do/run-in-a-container.md explains how to run it.

FROM node:24-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --ignore-scripts
COPY . .
# The published package and its dependencies. The image has its own Node, so the Node that npm installs for older machines is removed.
RUN npm pack --silent && mkdir /app && tar -xzf quarterdeck-*.tgz -C /app --strip-components=1 \
  && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/node-* node_modules/.bin/node node_modules/quarterdeck-console \
  && mv node_modules /app

FROM node:24-trixie-slim
LABEL org.opencontainers.image.title=Quarterdeck \
  org.opencontainers.image.licenses=MIT
# The program belongs to root, so the server's user cannot change it.
COPY --from=build /app /app
# One volume for everything that must not be lost. The tokens are beside the data directory, not in it: an agent that can write there could make itself an operator.
RUN ln -s /app/bin/quarterdeck.js /usr/local/bin/quarterdeck \
  && install -d -o node -g node -m 0700 /var/lib/quarterdeck /var/lib/quarterdeck/data /var/lib/quarterdeck/config \
  && install -d /agent
# The home folder of `node` cannot be written on a read-only root. What is kept there is a cache.
ENV NODE_ENV=production \
  HOME=/tmp \
  QUARTERDECK_HOST=0.0.0.0 \
  QUARTERDECK_DATA_DIR=/var/lib/quarterdeck/data \
  QUARTERDECK_CONFIG_DIR=/var/lib/quarterdeck/config
# A number, so that Kubernetes can see that it is not root. It is the user `node`.
USER 1000:1000
WORKDIR /agent
VOLUME /var/lib/quarterdeck
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.QUARTERDECK_PORT || process.env.PORT || 8000}/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["quarterdeck"]
CMD ["serve"]
