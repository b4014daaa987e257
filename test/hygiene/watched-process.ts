/**
 * Preloaded into a process whose memory is looked at. At its end, and when SIGUSR2 asks for it, it writes a heap snapshot to the
 * file named in HEAP_SNAPSHOT, and says so on descriptor 3. At its end it then waits to be killed, with everything as it is, but not
 * for ever: whoever started it may itself have been killed.
 */
import { writeSync } from 'node:fs';
import { writeHeapSnapshot } from 'node:v8';

const SIGNAL_DESCRIPTOR = 3;
const LONGEST_WAIT_MS = 300_000;
const parent = process.ppid;

function show(): void {
  const file = process.env['HEAP_SNAPSHOT'];
  if (file !== undefined) writeHeapSnapshot(file);
  writeSync(SIGNAL_DESCRIPTOR, '.');
}

process.on('SIGUSR2', show);
process.on('exit', () => {
  show();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGEST_WAIT_MS);
});

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 5_000).unref();
