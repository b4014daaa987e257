import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasProcessFiles, shownOf } from '../hygiene/processes.ts';
import { freePort } from '../servers/ports.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { KEY, leave, placeForAgents, statusOf } from './agent-target.ts';
import { binary, type Place } from './harness.ts';
import { SshAgentClient, sshString } from './ssh-agent-client.ts';

/** What ssh-keygen has signed for a file. */
const message = Buffer.concat([
  Buffer.from('SSHSIG'),
  ...['git', '', 'sha512'].map((text) => sshString(text)),
  sshString(createHash('sha512').update('hello').digest()),
]);

const socketOf = (printed: string): string => printed.trim().replace(/^unix:/, '');

describe('an agent of ssh needs --address', () => {
  let place: Place;
  let owner: Place;
  let server: ServerProcess;
  let agent: ServerProcess;
  let client: SshAgentClient;
  let token: string;

  const serve = (listen: string): Promise<ServerProcess> =>
    startServerProcess([binary, 'serve', '--listen', listen, '-q', '--audit-log', owner.file('audit.log')], {
      environment: owner.environment(),
    });

  beforeAll(async () => {
    place = placeForAgents();
    owner = place.with(KEY);
    await owner.ok('init');
    for (const name of ['laptop', 'other']) await owner.ok(`transit keys create ${name} --type ed25519`);
    const policy =
      'path "transit/keys/laptop" { capabilities = ["read"] }\npath "transit/sign/laptop" { capabilities = ["update"] }';
    await owner.ok('policy write laptop', { input: policy });
    token = await owner.ok('token create --policy laptop');
    server = await serve(`127.0.0.1:${await freePort()}`);
    const environment = place.environment({ COFFER_STORE: undefined, COFFER_TOKEN: token });
    const parameters = ['agent', 'run', '--address', server.address, '--ssh', 'laptop', '--ssh', 'other'];
    agent = await startServerProcess([binary, ...parameters], { environment });
    client = await SshAgentClient.connect(socketOf(agent.address));
  });

  afterAll(async () => {
    client.close();
    await agent.stop();
    await server.stop();
    leave(place);
  });

  it('has what was named, as far as the token may use it, and is found by "env"', async () => {
    const [laptop, ...others] = await client.list();
    expect(laptop?.comment).toBe('laptop');
    expect(others).toEqual([]);
    expect((await client.sign(laptop?.blob ?? Buffer.alloc(0), message))?.algorithm).toBe('ssh-ed25519');
    const printed = await place.ok(`agent env --address ${server.address}`);
    expect(printed).toBe(`export SSH_AUTH_SOCK='${socketOf(agent.address)}'`);
    if (hasProcessFiles) expect(shownOf(agent.child.pid ?? 0)).not.toContain(token);
  });

  it('leaves the record in the trail of the server', () => {
    const trail = readFileSync(owner.file('audit.log'), 'utf8');
    expect(trail).toContain('"path":"transit/sign/laptop"');
  });

  it('refuses while the server is away, and goes on when it is there again', async () => {
    const [laptop] = await client.list();
    const blob = laptop?.blob ?? Buffer.alloc(0);
    await server.stop('SIGKILL');
    expect(await client.sign(blob, message)).toBeUndefined();
    await expect(client.list()).rejects.toThrow('answered with 5');
    server = await serve(new URL(server.address).host);
    expect(await client.sign(blob, message)).toBeDefined();
  });

  it('refuses once the token is revoked', async () => {
    const [laptop] = await client.list();
    const address = server.address;
    await owner.ok(`token revoke ${token} --yes`);
    expect(await client.sign(laptop?.blob ?? Buffer.alloc(0), message)).toBeUndefined();
    expect(await place.refused(`agent run --address ${address}`, 2)).toContain('no key to offer');
    expect(await place.refused('agent run --ssh laptop', 2)).toContain(
      '--ssh needs --address (to offer keys of a store, run "coffer agent offer laptop --ssh")',
    );
    expect(await place.refused('agent run --confirm', 2)).toContain('run "coffer agent offer NAME --ssh")');
  });

  it('leaves nothing behind', async () => {
    await agent.stop();
    expect(existsSync(socketOf(agent.address))).toBe(false);
  });
});

describe('a key that is confirmed', () => {
  let place: Place;
  let client: SshAgentClient;

  afterAll(() => {
    client.close();
    leave(place);
  });

  it('is used after a yes, and each time somebody is asked', async () => {
    place = placeForAgents();
    const owner = place.with(KEY);
    const ask = place.file('ask');
    writeFileSync(
      ask,
      `#!/bin/sh\necho "$SSH_ASKPASS_PROMPT $1" >> ${place.file('asked')}\ntest -e ${place.file('yes')}\n`,
    );
    chmodSync(ask, 0o700);
    await owner.ok('init');
    await owner.ok('unlock', { environment: { SSH_ASKPASS: ask } });
    await place.ok('transit keys create laptop --type ed25519');
    await place.ok('agent offer laptop --ssh --confirm');
    expect(await place.json('agent list')).toMatchObject({ offers: [{ key: 'laptop', confirm: true }] });
    client = await SshAgentClient.connect((await statusOf(place)).ssh);
    const [laptop] = await client.list();
    const blob = laptop?.blob ?? Buffer.alloc(0);
    writeFileSync(place.file('yes'), '');
    expect(await client.sign(blob, message)).toBeDefined();
    rmSync(place.file('yes'));
    expect(await client.sign(blob, message)).toBeUndefined();
    // After a no nobody is asked for a while.
    writeFileSync(place.file('yes'), '');
    expect(await client.sign(blob, message)).toBeUndefined();
    const question = 'confirm Allow ssh to use key laptop to sign data with the namespace "git"?\n';
    expect(readFileSync(place.file('asked'), 'utf8')).toBe(question.repeat(2));
  });
});
