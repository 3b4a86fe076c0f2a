// Makes the files that are generated from the code, if they are missing or older than it: the
// description of the API, the guides, the reference, the style of pages, and types of the client.
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join, sep } = require('node:path');

const root = join(__dirname, '..');

exports.files = [
  'shared/features/docs/openapi.json',
  'shared/features/docs/guides.json',
  'shared/features/docs/reference.json',
  'shared/pages/frame/style.json',
  'infra/client/description.d.ts',
].map((file) => join(root, ...file.split('/')));

/** What they are made from. Guides and style sheets lie in it. */
const sources = ['functions', 'infra', 'shared'];

const isPart = ({ name, parentPath }) =>
  /\.(ts|css|md|svg)$/.test(name) && !exports.files.includes(join(parentPath, name));

function isOutdated() {
  if (!exports.files.every(existsSync)) return true;
  const made = Math.min(...exports.files.map((file) => statSync(file).mtimeMs));
  return ['package.json', ...sources].some((part) => {
    const path = join(root, part);
    if (part.endsWith('.json')) return statSync(path).mtimeMs > made;
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => isPart(entry) && !entry.parentPath.includes(`${sep}node_modules`))
      .some(({ name, parentPath }) => statSync(join(parentPath, name)).mtimeMs > made);
  });
}

/** Throws if they cannot be made. A release has them, and not the packages that make them. */
exports.refresh = () => {
  const canMake = existsSync(join(root, 'node_modules/@valibot/to-json-schema'));
  if (!canMake && exports.files.slice(0, -1).every(existsSync)) return;
  if (!canMake) throw new Error('Generated files are missing. Type once: npm ci --include=dev');
  if (!isOutdated()) return;
  // Functions import what is made from them.
  const missing = exports.files.filter((file) => file.endsWith('.json') && !existsSync(file));
  for (const file of missing) writeFileSync(file, '{ "guides": [] }');
  const { status } = spawnSync(process.execPath, ['bin/generate.ts'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status === 0) return;
  for (const file of missing) rmSync(file);
  throw new Error('Generated files could not be made');
};

if (require.main === module) {
  try {
    exports.refresh();
  } catch ({ message }) {
    console.error(`Error: ${message}`);
    process.exitCode = 1;
  }
}
