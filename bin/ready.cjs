// Before everything else, in words that any Node.js understands: what is missing would fail in riddles later.
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

if (!existsSync(join(__dirname, '../node_modules/commander'))) {
  stop('nothing is installed yet. Type: npm ci');
}
if (Number.parseInt(process.versions.node, 10) < 24) {
  const isInstalled = existsSync(join(__dirname, '../node_modules/node'));
  const wayOut = isInstalled
    ? '"npm ci" has installed the right one for this project, and npm takes it, as in: npm start'
    : 'install Node.js 24 on this machine, or type "npm ci", which brings one for this project';
  stop(`this runs on Node.js 24, and got ${process.version}. ${wayOut}`);
}

// What was compiled once need not be again: a start takes a quarter less.
enableCompileCache();

// A shell between npm and us dies of a signal and keeps it to itself.
const { ppid } = process;
if (process.env.npm_lifecycle_event) {
  setInterval(() => process.ppid === ppid || process.kill(process.pid, 'SIGTERM'), 250).unref();
}

function stop(reason) {
  console.error(`Error: ${reason}`);
  process.exit(1);
}
