import { runAdmin } from './admin/program.ts';

// The reader may close the pipe early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
// An audit that finds differences sets the exit status itself.
process.exitCode = (await runAdmin(process.argv.slice(2))) || process.exitCode;
