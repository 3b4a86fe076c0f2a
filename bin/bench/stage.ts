/** Milliseconds between two lines about a stage. */
const pause = 10_000;

const names = ['Lists', 'Endpoints', 'Flatness', 'Recount', 'Sizes'] as const;

/**
 * Says on stderr which stage of the measurement begins. The answer is to be called with the share
 * of it that is done, from 0 to 1, and says now and then how long the rest takes.
 */
export function beginStage(
  name: (typeof names)[number],
  { write = (line: string) => console.error(line), now = () => performance.now() } = {},
): (share: number) => void {
  const stage = `${names.indexOf(name) + 1} of ${names.length}: ${name}`;
  write(stage);
  const start = now();
  let last = start;
  return (share) => {
    const time = now();
    if (share <= 0 || time - last < pause) return;
    last = time;
    const left = ((time - start) * (1 - share)) / share / 1000;
    const words = left < 90 ? `${Math.ceil(left)} seconds` : `${Math.round(left / 60)} minutes`;
    write(`${stage}: ${Math.floor(100 * share)} %, about ${words} left`);
  };
}
