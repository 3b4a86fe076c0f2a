// To import node:http is to load all that it exports, a WebSocket client among it: 15 to 40 ms of every cold start. This loads what is used.
module.exports = process.getBuiltinModule('node:http');
