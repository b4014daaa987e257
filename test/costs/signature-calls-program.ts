/**
 * Prints how many calls of functions below src one signature of ssh costs an agent once it is warm: a client lists the keys, and has one sign,
 * as `ssh-keygen -Y sign` does. Resumptions of async functions count as well. In a process of its own, because what transforms sources for
 * tests adds functions.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentDesk } from '../../src/doors/agent/agent-desk.ts';
import { openDoorServer } from '../../src/doors/agent/door-server.ts';
import { ssh } from '../../src/doors/agent/ssh/ssh.ts';
import { openCore } from '../../src/operations/core.ts';
import { ownerRunner } from '../../src/operations/runner.ts';
import { Agent } from '../../src/service/agent/agent.ts';
import { Log } from '../../src/service/log.ts';
import { initStore } from '../../src/store/administration/init.ts';
import { handOver } from '../../src/store/handed-over.ts';
import { openStore } from '../../src/store/open.ts';

const DAY = 24 * 3600 * 1000;
const LIST = Buffer.from([11]);
const SIGN = 13;
const WARM_UP = 200;

const directory = mkdtempSync(join(tmpdir(), 'coffer-calls-'));
const location = join(directory, 'store');
const auditFile = process.argv.includes('--audit') ? join(directory, 'audit.log') : undefined;
const key = Uint8Array.from({ length: 32 }, (_, index) => index);

await initStore({ location, slots: [{ kind: 'raw', key: Uint8Array.from(key) }] });
const store = await openStore({
  location,
  credentials: [{ kind: 'raw', source: 'the test key', reveal: () => Uint8Array.from(key) }],
});
const core = openCore(store);
await ownerRunner(core).run('transit keys create', { name: 'laptop', type: 'ed25519' });
const { doors } = await core.access();
await doors.offer('ssh', { mount: 'transit', key: 'laptop', uses: ['sign'], confirm: false });
const handed = await handOver(store);
store.close();

const agent = await Agent.create({
  location,
  auditFile,
  log: new Log(() => undefined),
  describe: () => ({}),
  isReachable: () => true,
});
await agent.unlockWith({ handed, idleMs: DAY, forMs: DAY });
const socket = join(directory, 'ssh.sock');
const close = await openDoorServer(ssh, agentDesk(agent, ssh, undefined, undefined), { socket });

const string = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([length(bytes.length), bytes]);
};
function length(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const connection = connect(socket);
let come = Buffer.alloc(0);
let waiting: (() => void) | undefined;
connection.on('data', (bytes: Buffer) => {
  come = Buffer.concat([come, bytes]);
  if (come.length >= 4 && come.length >= 4 + come.readUInt32BE()) waiting?.();
});
async function ask(message: Buffer): Promise<Buffer> {
  come = Buffer.alloc(0);
  const answered = new Promise<void>((resolve) => {
    waiting = resolve;
  });
  connection.write(string(message));
  await answered;
  return come.subarray(4);
}

const data = Buffer.concat([
  Buffer.from('SSHSIG'),
  ...['file', '', 'sha512'].map(string),
  string(createHash('sha512').update('hello').digest()),
]);

async function signOnce(): Promise<void> {
  const listed = await ask(LIST);
  const blob = listed.subarray(9, 9 + listed.readUInt32BE(5));
  const signed = await ask(Buffer.concat([Buffer.from([SIGN]), string(blob), string(data), length(0)]));
  if (signed[0] !== SIGN + 1) throw new Error('it was not signed');
}

for (let turn = 0; turn < WARM_UP; turn += 1) await signOnce();

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await signOnce();
await session.post('Profiler.takePreciseCoverage');
await signOnce();
const { result } = await session.post('Profiler.takePreciseCoverage');
const counts = result
  .filter(({ url }) => url.includes('/src/'))
  .flatMap(({ url, functions }) =>
    functions.map(({ functionName, ranges: [range] }) => ({
      name: `${url.slice(url.indexOf('/src/') + 1)} ${functionName}`,
      file: url,
      count: range?.count ?? 0,
    })),
  )
  .filter(({ count }) => count > 0);
const calls = counts.reduce((sum, { count }) => sum + count, 0);
const files = new Set(counts.map(({ file }) => file)).size;
if (process.argv.includes('--each')) {
  for (const { name, count } of counts.sort((one, other) => other.count - one.count)) {
    process.stderr.write(`${String(count).padStart(4)} ${name}\n`);
  }
}
process.stdout.write(`${JSON.stringify({ calls, functions: counts.length, files })}\n`);

connection.destroy();
close();
await agent.lock('it was measured');
rmSync(directory, { recursive: true, force: true });
