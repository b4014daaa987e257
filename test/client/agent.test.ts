import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectToAgent } from '../../src/client/agent.ts';
import { turn } from '../../src/ground/pause.ts';
import { portOver } from '../../src/service/agent/calls.ts';
import { Rpc } from '../../src/service/rpc.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const WITHIN_MS = 20_000;

/** Lets what was sent arrive, which takes real time. */
async function arrived(isDone: () => boolean): Promise<void> {
  for (const until = performance.now() + WITHIN_MS; performance.now() < until && !isDone(); ) await turn();
  expect(isDone()).toBe(true);
}

/** A command that has asked for something that the agent has not answered yet. */
async function asking(status: () => Promise<unknown>) {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-agent-'));
  const path = join(directory, 'agent.sock');
  const answer = Promise.withResolvers<unknown>();
  const asked: string[] = [];
  const noted = (name: string, result: () => Promise<unknown>) => () => {
    asked.push(name);
    return result();
  };
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    new Rpc(portOver(socket), { ask: noted('ask', () => answer.promise), status: noted('status', status) });
  });
  await new Promise<void>((done) => server.listen(path, done));
  const said: string[] = [];
  const connection = await connectToAgent(path, (message) => said.push(message));
  if (connection === undefined) throw new Error('nothing listens there');
  onTestFinished(() => {
    connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  const reading = connection.runner({ mount: 'transit' }).run('transit keys read', { name: 'app' });
  await arrived(() => asked.includes('ask'));
  return { asked, said, reading, answer: () => answer.resolve(ANSWER) };
}

const ANSWER = { status: 200, contentType: 'application/json', body: '{"data":{"name":"app"}}' };

describe('a command that waits for an agent', () => {
  it('says after ten seconds that the agent hangs, once, and goes on waiting', async () => {
    const { asked, said, reading, answer } = await asking(() => new Promise(() => undefined));
    vi.advanceTimersByTime(5000);
    await arrived(() => asked.includes('status'));
    vi.advanceTimersByTime(4999);
    await turn();
    expect(said).toEqual([]);
    vi.advanceTimersByTime(1);
    await arrived(() => said.length > 0);
    vi.advanceTimersByTime(60_000);
    answer();
    expect(await reading).toMatchObject({ data: { name: 'app' } });
    expect(said).toEqual([
      'the agent does not respond yet (check whether the agent is suspended, or run "coffer lock" to kill it)',
    ]);
  });

  it('says nothing while the agent works', async () => {
    const { asked, said, reading, answer } = await asking(async () => ({ locked: false }));
    vi.advanceTimersByTime(5000);
    await arrived(() => asked.includes('status'));
    for (let turns = 0; turns < 50; turns++) await turn();
    vi.advanceTimersByTime(60_000);
    answer();
    expect(await reading).toMatchObject({ data: { name: 'app' } });
    expect([asked, said]).toEqual([['ask', 'status'], []]);
  });

  it('asks nothing else of an agent that answers in time', async () => {
    const { asked, said, reading, answer } = await asking(async () => ({ locked: false }));
    answer();
    await reading;
    vi.advanceTimersByTime(60_000);
    for (let turns = 0; turns < 50; turns++) await turn();
    expect([asked, said]).toEqual([['ask'], []]);
  });
});
