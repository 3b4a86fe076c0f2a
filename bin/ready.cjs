// Runs first, in syntax that any Node.js understands. Otherwise a missing package or an old Node.js
// would fail later with an obscure error.
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

if (!existsSync(join(__dirname, '../node_modules/commander'))) {
  stop('the packages are not installed. Type: npm ci');
}
if (Number.parseInt(process.versions.node, 10) < 24) {
  const isInstalled = existsSync(join(__dirname, '../node_modules/node'));
  const remedy = isInstalled
    ? 'The correct version is installed in this project. Run it through npm, for example: npm start'
    : 'Install Node.js 24, or type "npm ci", which installs it in this project';
  stop(`this needs Node.js 24, but runs on ${process.version}. ${remedy}`);
}

// The compile cache makes a start a quarter faster.
enableCompileCache();

// A shell between npm and this process does not pass signals on. This process ends when its parent
// does.
const { ppid } = process;
if (process.env.npm_lifecycle_event) {
  setInterval(() => process.ppid === ppid || process.kill(process.pid, 'SIGTERM'), 1_000).unref();
}

function stop(reason) {
  console.error(`Error: ${reason}`);
  process.exit(1);
}
