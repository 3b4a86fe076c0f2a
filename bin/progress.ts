import { SingleBar } from 'cli-progress';

/** Shows progress on stderr, if that is a terminal. Call the result with the items done. */
export function showProgress(what: string, total?: number): (done: number) => void {
  if (!process.stderr.isTTY) return () => {};
  const format =
    total === undefined ? `${what} {value}` : `${what} {bar} {percentage}% | {eta_formatted}`;
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true });
  bar.start(total ?? 0, 0);
  process.once('exit', () => bar.stop());
  return (done) => bar.update(done);
}
