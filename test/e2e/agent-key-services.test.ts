import { existsSync, readFileSync, statSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesIn, field, textIn } from '../../src/doors/agent/grpc/protobuf.ts';
import { call, framed, grpcSession } from '../doors/agent/grpc-client.ts';
import { hasProcessFiles, shownOf } from '../hygiene/processes.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { KEY, leave, placeForAgents, statusOf } from './agent-target.ts';
import { binary, type Place } from './harness.ts';
import { SshAgentClient } from './ssh-agent-client.ts';

let place: Place;
let owner: Place;

beforeAll(async () => {
  place = placeForAgents();
  owner = place.with(KEY);
  await owner.ok('init');
  for (const name of ['app', 'cluster']) await owner.ok(`transit keys create ${name}`);
  await owner.ok('transit keys create laptop --type ed25519');
});

afterAll(() => leave(place));

const start = (of: Place, line: string): Promise<ServerProcess> =>
  startServerProcess([binary, ...line.split(' ')], {
    environment: of.environment(),
    directory: of.directory,
  });

describe('the key service of sops in the agent', () => {
  let session: ClientHttp2Session;
  const asked = (name: string, data: string | Buffer): Buffer => {
    const key = field(5, Buffer.concat([field(1, 'http://x'), field(2, 'transit'), field(3, name)]));
    return framed(Buffer.concat([field(1, key), field(2, data)]));
  };

  afterAll(async () => {
    session.destroy();
    await place.ok('lock');
  });

  it('has the keys that are offered, for what they are offered, and is found when it is asked for', async () => {
    await owner.ok(`unlock --audit-log ${place.file('audit.log')}`);
    await place.ok('agent offer app --sops');
    expect(await place.refused('agent offer laptop --sops', 2)).toContain('cannot encrypt');
    expect(await place.ok('agent env')).not.toContain('SOPS');
    const found = /SOPS_KEYSERVICE='unix:\/\/(.*)'\nexport SOPS_ENABLE_LOCAL_KEYSERVICE='false'/.exec(
      await place.ok('agent env --sops'),
    )?.[1];
    session = grpcSession(found ?? '');
    const made = await call(session, '/KeyService/Encrypt', asked('app', 'a data key'));
    const ciphertext = textIn(made.fields, 1);
    expect(await place.ok(`transit decrypt app ${ciphertext}`)).toBe('a data key');
    const opened = await call(session, '/KeyService/Decrypt', asked('app', ciphertext));
    expect(textIn(opened.fields, 1)).toBe('a data key');
    expect((await call(session, '/KeyService/Encrypt', asked('cluster', 'x'))).status).toBe(7);
    expect((await call(session, '/KeyService/Encrypt', asked('new', 'x'))).status).toBe(7);
    await place.ok('agent offer app --sops --use encrypt');
    expect((await call(session, '/KeyService/Decrypt', asked('app', ciphertext))).status).toBe(7);
    expect(await place.ok('transit keys list')).not.toContain('new');
  });

  it('leaves records under its own name', () => {
    const records = readFileSync(place.file('audit.log'), 'utf8').trim().split('\n');
    const own = records
      .map((line) => JSON.parse(line))
      .filter(({ auth }) => auth.display_name === 'door/sops');
    expect(own.map(({ request, response }) => [request.path, response?.status])).toEqual([
      ['transit/encrypt/app', 200],
      ['transit/decrypt/app', 200],
      ['transit/decrypt/app', 403],
    ]);
  });
});

describe('coffer kms', () => {
  const PATH = '/v2.KeyManagementService';
  let plugin: ServerProcess;
  let session: ClientHttp2Session;

  afterAll(() => session.destroy());

  it('listens for its user alone, and refuses keys that do not encrypt', async () => {
    const socket = place.file('kms.sock');
    expect(await owner.refused(`kms --socket ${socket} --key laptop`, 2)).toContain('cannot encrypt');
    expect(await owner.refused(`kms --socket ${socket} --key nobody`, 3)).toContain('nobody');
    expect(await owner.refused('kms --key cluster', 2)).toBe(
      'coffer: missing required option --socket (e.g. "coffer kms --socket /run/coffer/kms.sock --key NAME")',
    );
    plugin = await start(owner, `kms --socket ${socket} --key cluster`);
    expect(plugin.address).toBe(`unix://${socket}`);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    session = grpcSession(socket);
    if (hasProcessFiles) expect(shownOf(plugin.child.pid ?? 0)).not.toContain(KEY.COFFER_MASTER_KEY);
  });

  it('follows a rotation that another process made', async () => {
    const status = async () => (await call(session, `${PATH}/Status`, framed(Buffer.alloc(0)))).fields;
    const before = textIn(await status(), 3);
    const made = await call(session, `${PATH}/Encrypt`, framed(field(1, 'a seed')));
    expect(textIn(made.fields, 2)).toBe(before);
    await owner.ok('transit keys rotate cluster');
    const after = await status();
    expect(textIn(after, 2)).toBe('ok');
    expect(textIn(after, 3)).not.toBe(before);
    const opened = await call(session, `${PATH}/Decrypt`, framed(field(1, bytesIn(made.fields, 1))));
    expect(textIn(opened.fields, 1)).toBe('a seed');
  });

  it('says why when the key can not be used', async () => {
    await owner.ok('transit keys config cluster --deletion-allowed --yes');
    await owner.ok('transit keys delete cluster --yes');
    const { fields } = await call(session, `${PATH}/Status`, framed(Buffer.alloc(0)));
    expect(textIn(fields, 2)).toContain('not found');
    expect((await call(session, `${PATH}/Encrypt`, framed(field(1, 'x')))).status).toBe(5);
    await plugin.stop();
    expect(existsSync(place.file('kms.sock'))).toBe(false);
  });
});

describe('doors of an agent that starts locked', () => {
  it('refuse at once, and work after an unlock', async () => {
    const agent = await start(place, 'agent run');
    const sockets = await statusOf(place);
    const ssh = await SshAgentClient.connect(sockets.ssh);
    await expect(ssh.list()).rejects.toThrow('answered with 5');
    const sops = grpcSession(sockets.sops);
    const key = field(5, Buffer.concat([field(2, 'transit'), field(3, 'app')]));
    const refused = await call(sops, '/KeyService/Encrypt', framed(field(1, key)));
    expect(refused).toMatchObject({ status: 9, message: 'the store is locked' });
    await owner.ok('unlock');
    expect(await ssh.list()).toEqual([]);
    ssh.close();
    sops.destroy();
    await agent.stop();
  });
});
