import { adoptSettings } from './admin/settings.ts';

// The reader may close the pipe early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});
const args = process.argv.slice(2);
await adoptSettings(args).catch((error: Error) => {
  console.error(`Error: ${error.message}`);
  process.exit(1);
});
const { runAdmin } = await import('./admin/program.ts');
// An audit that finds differences sets the exit status itself.
process.exitCode = (await runAdmin(args)) || process.exitCode;
