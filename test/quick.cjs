const { readFileSync } = require('node:fs');

/** For `npm run test:quick`: the test files that do not begin with the tag of those that take seconds. */
module.exports = async (paths) => ({
  filtered: paths.filter((path) => !readFileSync(path, 'utf8').startsWith('// @slow\n')),
});
