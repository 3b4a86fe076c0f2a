/**
 * Milliseconds that this thread works while `run` does, whatever else the machine does. The system
 * counts them coarsely: a short run may take none.
 */
export async function cpuOf(run: () => unknown): Promise<number> {
  const start = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}
