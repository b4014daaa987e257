import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { asCofferError } from '../../src/ground/errors.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { openCore } from '../../src/operations/core.ts';
import type { Operation } from '../../src/operations/declaration/operation.ts';
import { owner } from '../../src/operations/declaration/operation.ts';
import { parseValues } from '../../src/operations/declaration/params.ts';
import { isGone } from '../hygiene/processes.ts';
import { isLong } from '../long.ts';
import { seeded } from '../seeded.ts';
import { cleanUpAfterAll, openTestStore, send, spawnServer } from '../servers/serving.ts';

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

const PLAINTEXT = 'aGVsbG8=';
/** How often each change is made by and prepared by the same two: who is late is a matter of microseconds. */
const TURNS = isLong ? 8 : 1;
/** How often a key is turned while everybody is busy. */
const ROTATIONS = isLong ? 60 : 12;

const WAITING = { timeout: 20_000, interval: 20 };

/** Somebody who changes and uses the store: a connection to one of the workers, or a command beside them. */
interface Actor {
  readonly name: string;
  /** The status and the data of an operation's answer over HTTP, or what amounts to the same locally. */
  run(
    method: string,
    path: string,
    body?: object,
    token?: string,
  ): Promise<{ status: number; data: unknown }>;
}

describe('two workers and a command over one store', () => {
  const closeAfterwards = cleanUpAfterAll();
  let server: Awaited<ReturnType<typeof spawnServer>>;
  let remote: readonly Actor[];
  let actors: readonly Actor[];
  beforeAll(async () => {
    server = await spawnServer({ workers: 2 }, closeAfterwards);
    // Connections go to the workers in turn.
    remote = Array.from({ length: 2 }, (_, index) => remoteActor(`connection ${index}`));
    for (const actor of remote) await actor.run('GET', 'sys/mounts');
    const local = await localActor();
    actors = [...remote, local];
    for (const key of ['turning', 'busy']) await must(local, 'POST', `transit/keys/${key}`);
  });

  function remoteActor(name: string): Actor {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    closeAfterwards(() => agent.destroy());
    return {
      name,
      async run(method, path, body, token = server.token) {
        const { status, json } = await send(server.address, method, `/v1/${path}`, { token, body, agent });
        return { status, data: json?.auth ?? json?.data };
      },
    };
  }

  async function localActor(): Promise<Actor> {
    const store = await openTestStore(server.directory);
    closeAfterwards(() => store.close());
    const call = { core: openCore(store), caller: owner, mount: 'transit' };
    const run = async (load: () => Promise<{ declaration: Operation }>, raw: object) => {
      const { declaration } = await load();
      try {
        const { values } = parseValues(declaration.params, raw as Readonly<Record<string, unknown>>);
        const { auth, data } = await declaration.run(call, values);
        return { status: 200, data: auth ?? data };
      } catch (error) {
        return { status: asCofferError(error)?.kind === 'not-found' ? 404 : 400, data: undefined };
      }
    };
    const { keys, encrypt, decrypt } = catalogue.transit;
    return {
      name: 'command',
      async run(method, path, body = {}) {
        const [, first, name, verb] = path.split('/');
        if (path === 'auth/token/create') return run(catalogue.token.create.load, body);
        if (path === 'auth/token/revoke') return run(catalogue.token.revoke.load, body);
        if (first === 'encrypt') return run(encrypt.load, { name, ...body });
        if (first === 'decrypt') return run(decrypt.load, { name, ...body });
        if (method === 'DELETE') return run(keys.delete.load, { name });
        const verbs = { rotate: keys.rotate, trim: keys.trim, config: keys.config } as const;
        const entry =
          verb === undefined ? (method === 'GET' ? keys.read : keys.create) : verbs[verb as 'trim'];
        return run(entry.load, { name, ...body });
      },
    };
  }

  const must = async (actor: Actor, method: string, path: string, body?: object): Promise<unknown> => {
    const { status, data } = await actor.run(method, path, body);
    expect([actor.name, method, path, status < 300]).toEqual([actor.name, method, path, true]);
    return data;
  };
  const encryptWith = async (actor: Actor, key: string) =>
    (await must(actor, 'POST', `transit/encrypt/${key}`, { plaintext: PLAINTEXT })) as {
      ciphertext: string;
      key_version: number;
    };
  /** All the others look at once, so that each looks as early as it can. */
  const othersSee = async <T>(actor: Actor, look: (other: Actor) => Promise<T>, expected: T) => {
    const seeing = actors
      .filter((other) => other !== actor)
      .map(async (other) => expect([other.name, await look(other)]).toEqual([other.name, expected]));
    await Promise.all(seeing);
  };

  /** What one of them changes, after another one has prepared it, and what all others must see from then on. */
  const changes = {
    async rotate(actor: Actor, preparer: Actor) {
      const before = (await encryptWith(preparer, 'turning')).key_version;
      await must(actor, 'POST', 'transit/keys/turning/rotate');
      await othersSee(actor, async (other) => (await encryptWith(other, 'turning')).key_version, before + 1);
    },
    async trim(actor: Actor, preparer: Actor, round: number) {
      const key = `trimmed-${round}`;
      await must(preparer, 'POST', `transit/keys/${key}`);
      const { ciphertext } = await encryptWith(preparer, key);
      await must(preparer, 'POST', `transit/keys/${key}/rotate`);
      for (const each of actors) await must(each, 'POST', `transit/decrypt/${key}`, { ciphertext });
      await must(actor, 'POST', `transit/keys/${key}/config`, {
        min_decryption_version: 2,
        min_encryption_version: 2,
      });
      await must(actor, 'POST', `transit/keys/${key}/trim`, { min_available_version: 2 });
      const decrypt = (other: Actor) => other.run('POST', `transit/decrypt/${key}`, { ciphertext });
      await othersSee(actor, async (other) => (await decrypt(other)).status, 400);
    },
    async delete(actor: Actor, preparer: Actor, round: number) {
      const key = `deleted-${round}`;
      await must(preparer, 'POST', `transit/keys/${key}`);
      await must(preparer, 'POST', `transit/keys/${key}/config`, { deletion_allowed: true });
      for (const each of actors) await encryptWith(each, key);
      await must(actor, 'DELETE', `transit/keys/${key}`);
      await othersSee(actor, async (other) => (await other.run('GET', `transit/keys/${key}`)).status, 404);
    },
    async revoke(actor: Actor, preparer: Actor) {
      const issued = await must(preparer, 'POST', 'auth/token/create', { ttl: '1h' });
      const { client_token: token } = issued as { client_token: string };
      const status = async (each: Actor) => (await each.run('GET', 'sys/mounts', undefined, token)).status;
      for (const each of remote) expect([each.name, await status(each)]).toEqual([each.name, 200]);
      await must(actor, 'POST', 'auth/token/revoke', { token });
      const statuses = await Promise.all(remote.map(status));
      expect(statuses).toEqual(remote.map(() => 403));
    },
  };

  it.each(Object.entries(changes))('never answer from before a change of the kind %s', async (_, change) => {
    let round = 0;
    for (const actor of actors) {
      for (const preparer of actors) {
        for (let turn = 0; turn < TURNS; turn += 1) await change(actor, preparer, round++);
      }
    }
  });

  it('see a change under way of a worker as done or not done, while both are busy', async () => {
    const chance = seeded();
    let acknowledged = 1;
    let isDone = false;
    const rotating = (async () => {
      for (let version = 2; version <= 1 + ROTATIONS; version += 1) {
        await must(chance.pick(actors), 'POST', 'transit/keys/busy/rotate');
        acknowledged = version;
      }
      isDone = true;
    })();
    const reading = actors.map(async (actor) => {
      while (!isDone) {
        const least = acknowledged;
        expect((await encryptWith(actor, 'busy')).key_version).toBeGreaterThanOrEqual(least);
        // A local call may never leave the microtasks, and would let nobody else have a turn.
        await setImmediate();
      }
    });
    await Promise.all([rotating, ...reading]);
  });
});

describe('several workers', () => {
  it('are counted as one in the metrics', async () => {
    const { address, token } = await spawnServer({ workers: 2 });
    // Without a kept connection, requests go to the workers in turn.
    for (let count = 0; count < 6; count += 1) await send(address, 'GET', '/v1/sys/mounts', { token });
    const { text, headers } = await send(address, 'GET', '/v1/sys/metrics?format=prometheus', { token });
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('coffer_http_requests_total{api="vault",method="GET",status="200"} 6\n');
    expect(text).toContain('coffer_processes 2\n');
    expect(text).toContain('coffer_sealed 0\n');
    expect(text).toContain('coffer_audit_failures_total 0\n');
    expect(text).not.toContain('certificate');
  });

  it('are sealed and unsealed together', async () => {
    const { address, token } = await spawnServer({ workers: 2 });
    const statuses = async () => {
      const found = new Set<number>();
      for (let count = 0; count < 4; count += 1)
        found.add((await send(address, 'GET', '/v1/sys/health')).status);
      return [...found];
    };
    expect(await statuses()).toEqual([200]);
    expect((await send(address, 'POST', '/v1/sys/seal', { token })).status).toBe(204);
    expect(await statuses()).toEqual([503]);
    const key = Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index)).toString('base64');
    const unsealed = await send(address, 'POST', '/v1/sys/unseal', { body: { key } });
    expect(unsealed.json).toMatchObject({ sealed: false });
    expect(await statuses()).toEqual([200]);
  });

  it('are replaced when one is killed, and end with their server', async () => {
    const { address, token, child } = await spawnServer({ workers: 2 });
    const before = childrenOf(child.pid ?? 0);
    expect(before).toHaveLength(2);
    process.kill(before[0] ?? 0, 'SIGKILL');
    const isReplaced = () => {
      const now = childrenOf(child.pid ?? 0);
      return now.length === 2 && !now.includes(before[0] ?? 0);
    };
    await vi.waitUntil(isReplaced, WAITING);
    const after = childrenOf(child.pid ?? 0);
    for (let count = 0; count < 4; count += 1) {
      expect((await send(address, 'GET', '/v1/sys/mounts', { token })).status).toBe(200);
    }
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    await vi.waitUntil(() => after.every(isGone), WAITING);
  });

  it('end with a server that is told to end while one of them is replaced', async () => {
    const { child, log, stop } = await spawnServer({ workers: 2 });
    process.kill(childrenOf(child.pid ?? 0)[0] ?? 0, 'SIGKILL');
    await vi.waitUntil(() => log().includes('was restarted'), WAITING);
    await stop();
    expect([child.exitCode, child.signalCode]).toEqual([0, null]);
  });
});
