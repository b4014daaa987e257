/**
 * The processor time that this thread spends on some work, in milliseconds: what the work costs, however busy the machine is.
 */
export function processorMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
