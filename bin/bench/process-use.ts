import { readFileSync } from 'node:fs';

// Use of a process on this machine, from /proc.

/**
 * Returns milliseconds of CPU in ticks of 10 ms, with those of threads that have ended. Throws if
 * the process has ended.
 */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
  return 10 * (Number(fields[12]) + Number(fields[13]));
}

/** Returns the most bytes of memory that a process has taken so far. Throws if it has ended. */
export function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
