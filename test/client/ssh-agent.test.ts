import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { signWithSshAgent, sshAgentKeys } from '../../src/client/ssh-agent.ts';
import { parseSshLine, sshBlob } from '../../src/signatures/ssh-key.ts';
import { printWireSignature } from '../../src/signatures/ssh-signature.ts';
import { string, uint32 } from '../../src/signatures/ssh-wire.ts';

const IDENTITIES = 12;
const SIGNATURE = 14;
const FAILURE = 5;
const DATA = Buffer.from('SSHSIG and what is signed');

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-ssh-agent-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const message = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  return Buffer.concat([uint32(body.length), body]);
};
const signature = (key: KeyObject, algorithm = 'ssh-ed25519', data = DATA): Buffer =>
  message(SIGNATURE, string(printWireSignature({ algorithm, bytes: sign(null, data, key) })));

/** An agent that does to each connection what it is told, whatever is asked. @returns its socket */
async function agent(answer: Buffer | ((connection: Socket) => void)): Promise<string> {
  const path = join(scratch(), 'agent');
  const server = createServer((connection) => {
    connection.on('error', () => undefined);
    connection.once('data', () => (Buffer.isBuffer(answer) ? connection.end(answer) : answer(connection)));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(path, resolve);
  await promise;
  onTestFinished(() => void server.close());
  return path;
}

const signed = async (answer: Buffer | ((connection: Socket) => void), withinMs?: number) =>
  signWithSshAgent(await agent(answer), publicKey, DATA, withinMs);

describe('the ssh-agent of OpenSSH', () => {
  it('lists its keys, and signs with one that it has', async () => {
    const directory = scratch();
    const path = join(directory, 'agent');
    const real = spawn('ssh-agent', ['-D', '-a', path], { stdio: 'ignore' });
    onTestFinished(() => void real.kill());
    const key = join(directory, 'key');
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const { key: mine } = parseSshLine(readFileSync(`${key}.pub`, 'utf8')) ?? { key: publicKey };
    await vi.waitUntil(async () => (await sshAgentKeys(path)) !== undefined, { timeout: 20_000 });
    expect(await sshAgentKeys(path)).toEqual([]);
    await expect(signWithSshAgent(path, mine, DATA)).rejects.toMatchObject({ kind: 'denied' });
    spawnSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: path } });
    expect(await sshAgentKeys(path)).toEqual([sshBlob(mine)]);
    expect(await signWithSshAgent(path, mine, DATA)).toHaveLength(64);
  });

  it('is not there where nothing listens', async () => {
    const path = join(scratch(), 'none');
    expect(await sshAgentKeys(path)).toBeUndefined();
    await expect(signWithSshAgent(path, publicKey, DATA)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'no ssh-agent is listening at SSH_AUTH_SOCK',
    });
  });
});

describe('an ssh-agent that lies', () => {
  const whole = signature(privateKey);

  it('is believed a good signature, however it is cut into pieces', async () => {
    const pieces = (connection: Socket): void => {
      connection.setNoDelay(true);
      for (const byte of whole) connection.write(Buffer.from([byte]));
    };
    expect(await signed(pieces)).toHaveLength(64);
  });

  it.each([
    ['of another key', signature(other.privateKey)],
    ['of other data', signature(privateKey, 'ssh-ed25519', Buffer.from('other data'))],
  ])('is not believed a signature %s', async (_, answer) => {
    await expect(signed(answer)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the signature of the ssh-agent does not match the key',
      hint: expect.stringContaining('ssh-add -l'),
    });
  });

  it.each([
    ['with a signature of another algorithm', signature(privateKey, 'rsa-sha2-512')],
    ['with bytes behind the signature', message(SIGNATURE, string(whole.subarray(9)), Buffer.from('x'))],
    ['with a length that is not there', message(SIGNATURE, uint32(0xffff))],
    ['with nothing in it', message(SIGNATURE)],
    ['of another kind', message(IDENTITIES, uint32(0))],
    ['of a mebibyte', message(SIGNATURE, string(Buffer.alloc(1 << 20)))],
    ['of no length', uint32(0)],
    ['that is cut', whole.subarray(0, -1)],
    ['that does not come', Buffer.alloc(0)],
  ])('is not believed a response %s', async (_, answer) => {
    await expect(signed(answer)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(
        /^the ssh-agent (?:gave no valid response|closed the connection without)/,
      ),
    });
  });

  it('is not waited for longer than a signature may take', async () => {
    await expect(signed(() => undefined, 20)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the ssh-agent did not respond within 1 seconds',
    });
    const dribbling = (connection: Socket): void => {
      connection.write(whole.subarray(0, 20));
    };
    await expect(signed(dribbling, 20)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('that refuses is told of with what to do', async () => {
    await expect(signed(message(FAILURE))).rejects.toMatchObject({
      kind: 'denied',
      message: 'the ssh-agent refused to sign',
      hint: expect.stringContaining('ssh-add -X'),
    });
  });

  it.each([
    ['more keys than there are', message(IDENTITIES, uint32(0xffffffff), string('a'), string('b'))],
    ['keys with something behind them', message(IDENTITIES, uint32(0), Buffer.from('x'))],
    ['a mebibyte of keys', message(IDENTITIES, uint32(1), string(Buffer.alloc(1 << 20)), string(''))],
  ])('that lists %s is not believed', async (_, answer) => {
    await expect(sshAgentKeys(await agent(answer))).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('that lists what is no key is asked for none', async () => {
    const listed = message(
      IDENTITIES,
      uint32(2),
      string('junk'),
      string('\u001b[2J'),
      string(''),
      string(''),
    );
    expect(await sshAgentKeys(await agent(listed))).toEqual([Buffer.from('junk'), Buffer.alloc(0)]);
  });
});
