import { enableCompileCache } from 'node:module';

// Most of the time that a command takes goes into reading code, which is read here and not by an import above.
enableCompileCache();
const { runAdmin } = await import('./admin/program.ts');

// Whoever reads the answer may have seen enough of it, such as head.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
const status = await runAdmin(process.argv.slice(2));
// An audit that found something has set it already.
if (status !== 0) process.exitCode = status;
