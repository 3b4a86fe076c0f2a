import { enableCompileCache } from 'node:module';

// Commands spend most of their time loading code. The dynamic import loads the code from the
// compile cache; a static import would load it before the cache is on.
enableCompileCache();
const { runAdmin } = await import('./admin/program.ts');

// The reader may close the pipe early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
const status = await runAdmin(process.argv.slice(2));
// An audit that finds differences sets the exit status itself.
if (status !== 0) process.exitCode = status;
