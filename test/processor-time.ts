/** A place to wait at for a moment, that nobody ends. */
const nowhere = new Int32Array(new SharedArrayBuffer(4));

/**
 * What a clock of the processor shows, in milliseconds. The kernel brings its count of a thread that runs up to date only every few milliseconds,
 * or when the thread stops running, so this one stops for a moment: else work of 5 ms is counted as 0, 4 or 8.
 */
function shownMs(usage: () => NodeJS.CpuUsage): number {
  Atomics.wait(nowhere, 0, 0, 0.01);
  const { user, system } = usage();
  return (user + system) / 1000;
}

const ofThisThread = (): NodeJS.CpuUsage => process.threadCpuUsage();
const ofThisProcess = (): NodeJS.CpuUsage => process.cpuUsage();

/** The processor time that this thread spends on some work, in milliseconds: what the work costs, however busy the machine is. */
export function processorMs(work: () => unknown): number {
  const before = shownMs(ofThisThread);
  work();
  return shownMs(ofThisThread) - before;
}

/** The same of work that is done when its promise is kept. */
export async function processorMsUntil(work: () => Promise<unknown>): Promise<number> {
  const before = shownMs(ofThisThread);
  await work();
  return shownMs(ofThisThread) - before;
}

/** The same of all threads of this process, in which there may be a server and its store. */
export async function processMsUntil(work: () => Promise<unknown>): Promise<number> {
  const before = shownMs(ofThisProcess);
  await work();
  return shownMs(ofThisProcess) - before;
}
