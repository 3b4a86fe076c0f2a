import { SingleBar } from 'cli-progress';

/** Shows how far a long job is, on stderr and only if that is a terminal. Call it with the number of things done so far. */
export function showProgress(what: string, total?: number): (done: number) => void {
  if (!process.stderr.isTTY) return () => {};
  const format =
    total === undefined ? `${what} {value}` : `${what} {bar} {percentage}% | {eta_formatted}`;
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true });
  bar.start(total ?? 0, 0);
  process.once('exit', () => bar.stop());
  return (done) => bar.update(done);
}
