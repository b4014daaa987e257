/**
 * Asks a server's health over and over, from a process that nothing else holds up: `health-prober.ts ADDRESS`.
 * Prints `ready`; when it is told to stop (SIGTERM) it prints how long each answer took, in milliseconds, as JSON.
 */
import { Agent, get } from 'node:http';

const url = `${process.argv[2]}/v1/sys/health`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const PAUSE_MS = 5;
const times: number[] = [];

function probe(): void {
  const start = performance.now();
  get(url, { agent }, (answer) => {
    answer.resume();
    answer.once('end', () => {
      times.push(performance.now() - start);
      setTimeout(probe, PAUSE_MS);
    });
  });
}

process.once('SIGTERM', () => {
  process.stdout.write(JSON.stringify(times), () => process.exit(0));
});
probe();
process.stdout.write('ready\n');
