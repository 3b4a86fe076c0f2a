# The service as it runs on a laptop, for those that are not Linux on x64.
FROM --platform=linux/amd64 node:24-slim
WORKDIR /service
COPY package.json package-lock.json ./
COPY test/client/package.json test/client/
RUN npm ci && mkdir .data && chown node .data
COPY . .
USER node
VOLUME /service/.data
EXPOSE 3000
CMD ["node", "--require", "./bin/ready.cjs", "bin/start.ts", "--host", "0.0.0.0"]
