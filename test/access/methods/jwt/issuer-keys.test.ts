import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FetchedKeys, fetchedRef, type Room } from '../../../../src/access/methods/jwt/documents.ts';
import { IssuerKeys } from '../../../../src/access/methods/jwt/issuer-keys.ts';
import { printSource } from '../../../../src/access/methods/jwt/key-set.ts';
import { verified } from '../../../../src/access/methods/jwt/signed-token.ts';
import { type Issuer, startIssuer } from '../../../servers/issuer.ts';
import { cleanUpAfterAll } from '../../../servers/serving.ts';
import { signingKey, signToken } from '../../../servers/signing-key.ts';
import { memoryStore } from '../../../store/memory-store.ts';
import { FakeClock, failureOf } from '../../room.ts';

const MINUTES = 60;
const HOURS = 3600;

let issuer: Issuer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  issuer = await startIssuer({}, afterwards);
});

let clock: FakeClock;
let room: Room;
beforeEach(async () => {
  clock = new FakeClock();
  const mount = { type: 'jwt', path: 'auth/jwt', description: '', accessor: '', uuid: 'u', options: {} };
  room = { store: await memoryStore(), clock, mount };
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
const isVerified = async (keys: IssuerKeys, jwt: string): Promise<boolean> =>
  (await verified(jwt, await keys.current())) !== undefined;

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
});
