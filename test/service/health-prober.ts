/**
 * Asks a server's health again and again, from a process that nothing else holds up: `health-prober.ts ADDRESS`.
 * Prints `ready`; when it has had enough answers, or is told to stop (SIGTERM), it prints how many it had.
 */
import { Agent, get } from 'node:http';

const url = `${process.argv[2]}/v1/sys/health`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const PAUSE_MS = 10;
/** So few that answering is a small part of what the server does, however long that takes. */
const MOST_ANSWERS = 40;
let answers = 0;

function probe(): void {
  get(url, { agent }, (answer) => {
    answer.resume();
    answer.once('end', () => {
      answers++;
      if (answers < MOST_ANSWERS) setTimeout(probe, PAUSE_MS);
      else end();
    });
  });
}

function end(): void {
  process.stdout.write(String(answers), () => process.exit(0));
}

process.once('SIGTERM', end);
probe();
process.stdout.write('ready\n');
