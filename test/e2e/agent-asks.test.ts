import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stretchInEarnest } from '../light-work.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { isLocked, leave, placeForAgents, statusOf } from './agent-target.ts';
import { binary, type Place } from './harness.ts';
import { SshAgentClient, sshString } from './ssh-agent-client.ts';

// The agent opens the store itself.
stretchInEarnest();

const PASSPHRASE = 'drum velvet onion harbour sling';

describe('a locked agent with a program that asks', () => {
  let place: Place;
  let agent: ServerProcess;

  beforeEach(async () => {
    place = placeForAgents();
    const owner = place.with({ COFFER_PASSPHRASE: PASSPHRASE });
    await owner.ok('init');
    await owner.ok('transit keys create laptop --type ed25519');
    await owner.ok('agent offer laptop --ssh');
  });

  afterEach(async () => {
    await agent.stop();
    leave(place);
  });

  /** @param script what the program prints and how it ends. */
  const start = async (script: string): Promise<void> => {
    const program = place.file('ask');
    const asked = place.file('asked');
    writeFileSync(asked, '');
    writeFileSync(
      program,
      `#!/bin/sh\necho "$COFFER_TOKEN$VAULT_TOKEN$SSH_ASKPASS_PROMPT|$1" >> ${asked}\n${script}\n`,
    );
    chmodSync(program, 0o700);
    const environment = place.environment({
      ...{ SSH_ASKPASS: program, SSH_ASKPASS_PROMPT: 'confirm' },
      ...{ COFFER_TOKEN: 'not its business', VAULT_TOKEN: 'nor this' },
    });
    agent = await startServerProcess([binary, 'agent', 'run'], { environment });
  };

  const questions = (): string[] => readFileSync(place.file('asked'), 'utf8').split('\n').slice(0, -1);

  const listed = async (): Promise<readonly string[]> => {
    const client = await SshAgentClient.connect((await statusOf(place)).ssh);
    try {
      return (await client.list()).map(({ comment }) => comment);
    } catch {
      return ['refused'];
    } finally {
      client.close();
    }
  };

  it('is opened by the passphrase when ssh wants a key, once for all that come', async () => {
    await start(
      `if test "$(wc -l < ${place.file('asked')})" -gt 1; then echo '${PASSPHRASE}'; else echo wrong; fi`,
    );
    expect(await isLocked(place)).toBe(true);
    expect(await Promise.all([listed(), listed(), listed()])).toEqual([['laptop'], ['laptop'], ['laptop']]);
    const question = 'A program wants to use a key (ssh). Passphrase for the Coffer store:';
    expect(questions()).toEqual([`|${question}`, `|Wrong passphrase. ${question}`]);
    expect(await isLocked(place)).toBe(false);
    expect(await listed()).toEqual(['laptop']);
    expect(questions()).toHaveLength(2);
  });

  it('opens no window for another machine, and no second one after a no', async () => {
    await start('exit 1');
    const forwarded = await SshAgentClient.connect((await statusOf(place)).ssh);
    const bind = ['session-bind@openssh.com', 'a host', 'a session', 'a signature'].map(sshString);
    await forwarded.ask(27, ...bind, Buffer.from([1]));
    await expect(forwarded.list()).rejects.toThrow('answered with 5');
    forwarded.close();
    expect(questions()).toEqual([]);
    expect(await Promise.all([listed(), listed(), listed()])).toEqual(Array(3).fill(['refused']));
    expect(await listed()).toEqual(['refused']);
    expect(questions()).toHaveLength(1);
    expect(await isLocked(place)).toBe(true);
  });
});
