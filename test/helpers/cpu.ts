/**
 * Returns the milliseconds of CPU that this thread spends on `run`, whatever else the machine does.
 * The system counts coarsely, so a short run may take 0.
 */
export async function cpuOf(run: () => unknown): Promise<number> {
  const start = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
