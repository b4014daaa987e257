/**
 * Preloaded into a process whose memory is looked at. At its end, and when SIGUSR2 asks for it, it writes a heap snapshot to the
 * file named in HEAP_SNAPSHOT, and says so on descriptor 3. At its end it then waits to be killed, with everything as it is.
 */
import { writeSync } from 'node:fs';
import { writeHeapSnapshot } from 'node:v8';

const SIGNAL_DESCRIPTOR = 3;

function show(): void {
  const file = process.env['HEAP_SNAPSHOT'];
  if (file !== undefined) writeHeapSnapshot(file);
  writeSync(SIGNAL_DESCRIPTOR, '.');
}

process.on('SIGUSR2', show);
process.on('exit', () => {
  show();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
