import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeConfig } from '../../../../src/access/methods/jwt/config.ts';
import {
  type FetchedKeys,
  fetchedRef,
  type JwtConfig,
  type JwtPorts,
} from '../../../../src/access/methods/jwt/documents.ts';
import { printSource, readKeySet } from '../../../../src/access/methods/jwt/key-set.ts';
import { IssuerKeys } from '../../../../src/access/methods/jwt/keys.ts';
import { jwtMounts } from '../../../../src/access/methods/jwt/mount-type.ts';
import { verified } from '../../../../src/access/methods/jwt/signed-token.ts';
import { unavailable } from '../../../../src/ground/errors.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import { Mounts } from '../../../../src/mounts/mounts.ts';
import type { Store } from '../../../../src/store/store.ts';
import { type Issuer, startIssuer } from '../../../servers/issuer.ts';
import { cleanUpAfterAll } from '../../../servers/serving.ts';
import { jwkOf, type SigningKey, signingKey, signToken } from '../../../servers/signing-key.ts';
import { memoryStore } from '../../../store/memory-store.ts';
import { FakeClock, failureOf } from '../../room.ts';

const MINUTES = 60;
const HOURS = 3600;
const NO_CONFIG: JwtConfig = {
  oidc_discovery_url: '',
  oidc_discovery_ca_pem: '',
  jwks_url: '',
  jwks_ca_pem: '',
  jwt_validation_pubkeys: [],
  bound_issuer: '',
  jwt_supported_algs: [],
  default_role: '',
  override_allowed_server_names: [],
  namespace_in_state: true,
  oidc_client_id: '',
  oidc_response_mode: '',
  oidc_response_types: [],
};

let issuer: Issuer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  issuer = await startIssuer({}, afterwards);
});

let clock: FakeClock;
let room: JwtPorts;
beforeEach(async () => {
  clock = new FakeClock();
  const store = await memoryStore();
  const mount = await new Mounts(store, systemRandom, jwtMounts).add('jwt', 'auth/jwt');
  room = { store, clock, mount };
  await issuer.behave({ keys: 'ordinary' });
  await issuer.publish([issuer.key]);
  await issuer.forget();
});

const source = () => ({ jwksUrl: issuer.jwksUrl, ca: issuer.ca, serverNames: [] });
/** As after a configuration was written without the issuer's being asked. */
async function keysWithNothing(): Promise<IssuerKeys> {
  const nothing: FetchedKeys = { source: printSource(source()), keys: '', fetchedMs: 0 };
  await room.store.transact((tx) => tx.put(fetchedRef(room.mount), nothing));
  return new IssuerKeys(room, source());
}
const asked = async (): Promise<number> => {
  const { length } = await issuer.asked();
  await issuer.forget();
  return length;
};
const configure = (change: Partial<JwtConfig>) =>
  writeConfig(room, { ...NO_CONFIG, ...change }, { skipsValidation: false, clientSecret: '', provider: {} });

/** An issuer that answers when it is told to. */
const waiting: ServerResponse[] = [];
const slowly = createServer((_request, response) => void waiting.push(response));
beforeAll(() => new Promise<void>((resolve) => void slowly.listen(0, '127.0.0.1', () => resolve())));
afterAll(() => void slowly.close());
const isAsked = () => vi.waitUntil(() => waiting.length === 1, { timeout: 20_000 });
const answered = async (json: string): Promise<void> => {
  await isAsked();
  waiting.pop()?.end(json);
};

const isVerified = async (keys: IssuerKeys, jwt: string): Promise<boolean> =>
  (await verified(jwt, await keys.current())) !== undefined;

/** A store with another member. */
const having = <K extends keyof Store>(store: Store, name: K, member: Store[K]): Store =>
  new Proxy(store, {
    get(target, asked) {
      if (asked === name) return member;
      const value: unknown = Reflect.get(target, asked);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('the keys of an issuer', () => {
  it('are asked for once by all who need them at the same moment', async () => {
    const keys = await keysWithNothing();
    await Promise.all(Array.from({ length: 20 }, () => keys.current()));
    expect(await asked()).toBe(1);
  });

  it('are used for ten minutes, then asked for by the way, and for twelve hours while nobody answers', async () => {
    const keys = await keysWithNothing();
    const jwt = await issuer.token({});
    expect(await isVerified(keys, jwt)).toBe(true);
    clock.pass(9 * MINUTES);
    expect(await isVerified(keys, jwt)).toBe(true);
    expect(await asked()).toBe(1);
    clock.pass(2 * MINUTES);
    await issuer.behave({ keys: 'hangs up' });
    expect(await isVerified(keys, jwt)).toBe(true);
    await vi.waitUntil(async () => (await issuer.asked()).length === 1, { timeout: 20_000 });
    await issuer.behave({ keys: { status: 500, body: '' } });
    clock.pass(11 * HOURS);
    expect(await isVerified(keys, jwt)).toBe(true);
    clock.pass(1 * HOURS);
    expect(await failureOf(() => keys.current())).toEqual(['unavailable', expect.any(String)]);
    clock.pass(11);
    await issuer.behave({ keys: 'ordinary' });
    expect(await isVerified(keys, jwt)).toBe(true);
  });

  it('grow old to the millisecond', async () => {
    const keys = await keysWithNothing();
    const jwt = await issuer.token({});
    expect(await isVerified(keys, jwt)).toBe(true);
    await issuer.forget();
    await issuer.behave({ keys: { status: 500, body: '' } });
    clock.ms += 10 * MINUTES * 1000 - 1;
    expect(await isVerified(keys, jwt)).toBe(true);
    expect(await asked()).toBe(0);
    clock.ms += 1;
    expect(await isVerified(keys, jwt)).toBe(true);
    await vi.waitUntil(async () => (await issuer.asked()).length === 1, { timeout: 20_000 });
    clock.ms += 12 * HOURS * 1000 - 10 * MINUTES * 1000 - 1;
    expect(await isVerified(keys, jwt)).toBe(true);
    clock.ms += 1;
    expect((await failureOf(() => keys.current()))[0]).toBe('unavailable');
  });

  it('are asked for once in ten seconds, whoever comes with a key that is not among them', async () => {
    const keys = await keysWithNothing();
    const known = await keys.current();
    await asked();
    for (let i = 0; i < 5; i++) expect(await keys.newerThan(known)).toBeUndefined();
    expect(await asked()).toBe(0);
    clock.pass(10);
    for (let i = 0; i < 5; i++) expect(await keys.newerThan(known)).toBeUndefined();
    expect(await asked()).toBe(1);
    clock.pass(10);
    const next = signingKey('ES256');
    await issuer.publish([next]);
    const newer = await keys.newerThan(known);
    expect(newer && (await verified(await signToken(next, { sub: 'x' }), newer))?.claims).toEqual({
      sub: 'x',
    });
    expect(newer && (await verified(await issuer.token({}), newer))).toBeUndefined();
  });

  it('that a bad answer would replace stay what they were', async () => {
    const keys = await keysWithNothing();
    const jwt = await issuer.token({});
    const known = await keys.current();
    for (const body of ['', '{}', '{"keys":[]}', '{"keys":[1]}', '[]', 'null']) {
      clock.pass(11);
      await issuer.behave({ keys: { status: 200, body } });
      expect(await keys.newerThan(known)).toBeUndefined();
      expect(await isVerified(keys, jwt)).toBe(true);
    }
    expect(await asked()).toBe(7);
  });

  it('are known to a process that starts while the issuer is down, for as long as to others', async () => {
    const keys = await keysWithNothing();
    const jwt = await issuer.token({});
    await keys.current();
    await issuer.behave({ keys: { status: 500, body: '' } });
    clock.pass(5 * HOURS);
    expect(await isVerified(new IssuerKeys(room, source()), jwt)).toBe(true);
    clock.pass(8 * HOURS);
    expect((await failureOf(() => new IssuerKeys(room, source()).current()))[0]).toBe('unavailable');
    const other = { ...source(), serverNames: ['localhost'] };
    clock.ms -= 8 * HOURS * 1000;
    expect((await failureOf(() => new IssuerKeys(room, other).current()))[0]).toBe('unavailable');
  });

  it('are written down when they change, or once an hour, and never for a mount that is gone', async () => {
    const keys = await keysWithNothing();
    const stored = () => room.store.read((view) => view.get<FetchedKeys>(fetchedRef(room.mount)));
    const known = await keys.current();
    const first = await stored();
    clock.pass(30 * MINUTES);
    await keys.newerThan(known);
    expect(await stored()).toBe(first);
    clock.pass(31 * MINUTES);
    await keys.newerThan(known);
    expect((await stored())?.fetchedMs).toBe(clock.ms);
    await room.store.transact((tx) => tx.delete(fetchedRef(room.mount)));
    clock.pass(2 * HOURS);
    await keys.newerThan(known);
    expect(await stored()).toBeUndefined();
  });

  it('of a time to come are not trusted, whatever became of the clock', async () => {
    const keys = await keysWithNothing();
    await keys.current();
    clock.ms -= 365 * 24 * HOURS * 1000;
    await issuer.behave({ keys: { status: 500, body: '' } });
    expect((await failureOf(() => keys.current()))[0]).toBe('unavailable');
    await issuer.behave({ keys: 'ordinary' });
    clock.pass(11);
    expect(await isVerified(keys, await issuer.token({}))).toBe(true);
  });

  it('are those that the configuration found when it was written again, in every process', async () => {
    const ours = await keysWithNothing();
    const jwt = await issuer.token({});
    expect(await isVerified(ours, jwt)).toBe(true);
    const others = new IssuerKeys(room, source());
    expect(await isVerified(others, jwt)).toBe(true);
    const next = signingKey('ES256');
    await issuer.publish([next]);
    expect(await isVerified(ours, jwt)).toBe(true);
    await configure({ jwks_url: issuer.jwksUrl, jwks_ca_pem: issuer.ca });
    for (const keys of [ours, others]) {
      expect(await isVerified(keys, jwt)).toBe(false);
      expect(await isVerified(keys, await signToken(next, { sub: 'x' }))).toBe(true);
    }
  });

  it('let in where the store takes no note of them', async () => {
    await keysWithNothing();
    const keys = new IssuerKeys(
      { ...room, store: having(room.store, 'transact', () => Promise.reject(unavailable('full'))) },
      source(),
    );
    expect(await isVerified(keys, await issuer.token({}))).toBe(true);
  });

  it('are not given up for older ones that another process puts down late', async () => {
    const keys = await keysWithNothing();
    const jwt = await issuer.token({});
    expect(await isVerified(keys, jwt)).toBe(true);
    const json = JSON.stringify({ keys: [jwkOf(signingKey('ES256'))] });
    const put = (fetchedMs: number) =>
      room.store.transact((tx) =>
        tx.put(fetchedRef(room.mount), { source: printSource(source()), keys: json, fetchedMs }),
      );
    await put(clock.ms - 1);
    expect(await isVerified(keys, jwt)).toBe(true);
    await put(clock.ms);
    expect(await isVerified(keys, jwt)).toBe(false);
  });

  it('without names are each tried', async () => {
    const [one, other] = [signingKey('ES256'), signingKey('ES256')];
    const nameless = ({ publicKey }: SigningKey) => publicKey.export({ format: 'jwk' });
    const set = await readKeySet(JSON.stringify({ keys: [nameless(one), nameless(other)] }));
    for (const key of [one, other]) {
      const jwt = await signToken(key, { sub: 'x' }, { kid: undefined });
      expect((await verified(jwt, set))?.claims).toEqual({ sub: 'x' });
    }
    const stranger = await signToken(signingKey('ES256'), { sub: 'x' }, { kid: undefined });
    expect(await verified(stranger, set)).toBeUndefined();
  });

  it('stay those of the configuration when a question that was asked before is answered after it', async () => {
    const slow = {
      jwksUrl: `http://127.0.0.1:${(slowly.address() as AddressInfo).port}/`,
      ca: '',
      serverNames: [],
    };
    const [before, after] = [signingKey('ES256'), signingKey('ES256')];
    const keysJson = (key: SigningKey) => JSON.stringify({ keys: [jwkOf(key)] });
    const written = configure({ jwks_url: slow.jwksUrl });
    await answered(keysJson(before));
    await written;
    const keys = new IssuerKeys(room, slow);
    const known = await keys.current();
    clock.pass(1);
    const late = keys.newerThan(known);
    await isAsked();
    const [held] = waiting.splice(0);
    clock.pass(1);
    const again = configure({ jwks_url: slow.jwksUrl });
    await answered(keysJson(after));
    await again;
    held?.end(keysJson(before));
    const newer = await late;
    for (const some of [newer, await keys.current()]) {
      expect(some && (await verified(await signToken(before, { sub: 'x' }), some))).toBeUndefined();
      expect(some && (await verified(await signToken(after, { sub: 'x' }), some))).toBeDefined();
    }
  });
});
