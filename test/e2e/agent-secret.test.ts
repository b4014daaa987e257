import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import { asksAgain } from '../../src/operations/declaration/operation.ts';
import { printPath } from '../../src/operations/declaration/route.ts';
import { usualPath } from '../../src/operations/mount-types.ts';
import { loadRoutes, type ServedRoute } from '../../src/operations/routes.ts';
import { KEY, leave, over, placeForAgents, statusOf } from './agent-target.ts';
import type { Place } from './harness.ts';
import { typedAt } from './typed.ts';

/*
 * What an agent does only for who gives the secret of the store again. Everything is refused that is not declared to be harmless
 * (`withoutSecret`), so an operation that stands in no list here has not been decided about.
 */

/** What leaves something behind by which somebody gets in, or gets at keys, when the store is locked again. */
const ASKS = [
  // Key material that leaves, or that somebody else knows.
  'transit.backup',
  'transit.byok-export',
  'transit.import',
  'transit.import-version',
  'transit.keys.export',
  'transit.restore',
  // What tokens of then may do with keys: settings and paths of mounts, settings of keys.
  'mounts.add',
  'mounts.move',
  'mounts.tune',
  'transit.key-defaults',
  'transit.keys.config',
  'transit.keys.create',
  // Tokens, and how long they live.
  'token.create',
  'token.create-by-role',
  'token.create-orphan',
  'token.renew',
  'token.renew-accessor',
  'token.renew-self',
  'token.revoke-orphan',
  'token.roles.delete',
  'token.roles.write',
  // What they may do.
  'policy.delete',
  'policy.write',
  'policy.write-legacy',
  // Who gets one.
  'auth.approle.custom-secret-id',
  'auth.approle.delete',
  'auth.approle.login',
  'auth.approle.reset-field',
  'auth.approle.role-id',
  'auth.approle.secret-id',
  'auth.approle.set-field',
  'auth.approle.set-role-id',
  'auth.approle.write',
  'auth.cert.delete',
  'auth.cert.delete-revocations',
  'auth.cert.login',
  'auth.cert.set-config',
  'auth.cert.set-revocations',
  'auth.cert.write',
  'auth.disable',
  'auth.enable',
  'auth.jwt.configure',
  'auth.jwt.delete',
  'auth.jwt.login',
  'auth.jwt.write',
  'auth.tune',
  'auth.unlock-user',
  'auth.userpass.delete',
  'auth.userpass.login',
  'auth.userpass.password',
  'auth.userpass.policies',
  'auth.userpass.write',
  // Who else gets at a server, or at keys that are offered.
  'doors.offer',
  'quotas.config',
  'quotas.delete',
  'quotas.write',
  'sys.delete-audited-header',
  'sys.delete-cors',
  'sys.set-audited-header',
  'sys.set-cors',
];

/** Of what depends on what was sent: with what it is refused, and with what it is done. */
const DEPENDS: Readonly<
  Record<string, { readonly refused: readonly object[]; readonly done: readonly object[] }>
> = {
  'transit.keys.export': { refused: [{}], done: [] },
  'transit.keys.config': {
    refused: [
      { exportable: true },
      { exportable: 'true' },
      { exportable: 1 },
      { exportable: null },
      { allow_plaintext_backup: true },
      { allow_plaintext_backup: 't', exportable: false },
    ],
    done: [{ deletion_allowed: true }, { exportable: false }],
  },
  'transit.keys.create': {
    refused: [
      { exportable: true },
      { exportable: 'true' },
      { allow_plaintext_backup: 1 },
      { type: 'ed25519', exportable: false, allow_plaintext_backup: true },
    ],
    done: [{ type: 'ed25519' }, { type: 'ed25519', exportable: false, allow_plaintext_backup: false }],
  },
  'mounts.add': {
    refused: [{ type: 'transit', config: { audit_non_hmac_request_keys: ['plaintext'] } }],
    done: [{ type: 'transit' }],
  },
  'doors.offer': {
    refused: [{ uses: ['login', 'forward'] }, { uses: 'login,forward' }, { uses: ' forward ' }],
    done: [{ uses: ['login'] }, {}],
  },
};

const WORDS = /prints or allows can be used even while the store is locked/;
const LOGIN_METHODS = ['approle', 'cert', 'jwt', 'userpass'];

let place: Place;
let socket: string;
let routes: readonly ServedRoute[] = [];

beforeAll(async () => {
  place = placeForAgents();
  const owner = place.with(KEY);
  await owner.ok('init');
  for (const method of LOGIN_METHODS) await owner.ok(`auth enable ${method}`);
  await owner.ok('transit keys create x --type ed25519');
  await owner.ok('unlock');
  socket = (await statusOf(place)).api;
  routes = await loadRoutes(catalogue);
});

afterAll(() => leave(place));

/** Names of the catalogue without those of their branches. */
const named = (name: string): readonly ServedRoute[] => routes.filter((served) => served.name === name);

/** Where only some words are taken. */
const TAKEN: Readonly<Record<string, string>> = { key_type: 'signing-key', field: 'token-ttl' };

function pathOf({ operation, route }: ServedRoute, value = 'x'): string {
  const path = printPath(
    route,
    (param) => TAKEN[param] ?? value,
    (segment) => segment,
  );
  if (operation.api === 'json-api') return `/api/v2/${path}`;
  const isOfServer = operation.mount === undefined || path.startsWith('sys/');
  return `/v1/${isOfServer ? path : `${usualPath(operation.mount)}/${path}`}`;
}

const ask = (served: ServedRoute, body: object = {}, value?: string) =>
  over(socket, served.route.method, pathOf(served, value), served.route.method === 'POST' ? body : undefined);

const refusal = { status: 403, data: { errors: [expect.stringMatching(WORDS)] } };

describe('what outlives an agent', () => {
  it('is everything that is not declared to be harmless, and each operation was decided about', () => {
    const asking = routes.filter(({ operation }) => operation.withoutSecret !== true).map(({ name }) => name);
    expect([...new Set(asking)].sort()).toEqual([...ASKS].sort());
    const depending = routes.filter(({ operation }) => typeof operation.withoutSecret === 'function');
    expect(new Set(depending.map(({ name }) => name))).toEqual(new Set(Object.keys(DEPENDS)));
  });

  it.each(ASKS.filter((name) => !Object.hasOwn(DEPENDS, name)))(
    'is refused at every path of it without the secret: %s',
    async (name) => {
      for (const served of named(name)) {
        expect(asksAgain(served.operation, {})).toBe(true);
        expect(await ask(served), pathOf(served)).toMatchObject(refusal);
      }
    },
  );

  it.each(Object.entries(DEPENDS))('is told by what was sent to %s', async (name, { refused, done }) => {
    for (const served of named(name)) {
      for (const body of refused) {
        expect(await ask(served, body), JSON.stringify(body)).toMatchObject(refusal);
      }
      for (const [index, body] of done.entries()) {
        const answer = await ask(served, body, name === 'mounts.add' ? `x${index}` : 'x');
        expect(answer.status, JSON.stringify(answer)).toBeLessThan(300);
      }
    }
  });

  it('is refused through commands that name a path, and in other spellings of it', async () => {
    for (const line of [
      'write auth/approle/role/r bind_secret_id=false token_bound_cidrs=127.0.0.0/8 token_policies=all',
      'write auth/approle/login role_id=r',
      'write sys/policies/acl/default policy=x',
      'write sys/policy/default policy=x',
      'write sys/auth/more type=approle',
      'delete sys/policies/acl/default --yes',
      'read auth/approle/role/r/role-id',
    ]) {
      expect(await place.refused(line, 4), line).toContain('can be used even while the store is locked');
    }
    for (const path of [
      'sys/policies/acl/DEFAULT',
      'sys%2Fpolicies/acl/default',
      'sys/policies/acl/%64efault',
      'sys/auth/more/',
      'auth/approle/role/r/',
    ]) {
      const answer = await over(socket, 'PUT', `/v1/${path}`, { policy: 'x', type: 'approle' });
      expect(answer.status, path).toBeGreaterThanOrEqual(400);
    }
    const owner = place.with(KEY);
    expect(await owner.ok('policy read default')).not.toMatch(/^x$/m);
    expect(Object.keys((await owner.json('auth list')) as object).sort()).toEqual(
      [...LOGIN_METHODS, 'token'].map((method) => `${method}/`).sort(),
    );
  });

  it('is not what reads, or works on data or with keys', async () => {
    const harmless = routes.filter(
      ({ operation, name }) =>
        operation.withoutSecret === true && !operation.answersText && name !== 'sys.seal',
    );
    expect(harmless.length).toBeGreaterThan(100);
    for (const served of harmless) {
      const { data } = await ask(served);
      expect(JSON.stringify(data), pathOf(served)).not.toMatch(WORDS);
    }
  });
});

describe('a command that manages the store itself', () => {
  it('says before it asks for the passphrase of an unlocked store why it does', async () => {
    const owner = place.with(KEY);
    await owner.with({ COFFER_NEW_PASSPHRASE: 'secret' }).ok('slots add --passphrase');
    await owner.ok('unlock');
    const why = 'The store is unlocked, but this command always needs a secret that unlocks it.\n';
    for (const line of [
      'doctor',
      `store backup ${place.file('backup')}`,
      `store copy ${place.file('store')} ${place.file('copy')}`,
      'slots list',
    ]) {
      const { stderr, asked } = await typedAt(place, line, { answers: ['secret'] });
      expect({ line, asked, said: stderr.split(why).length - 1 }).toEqual({
        line,
        asked: ['Passphrase'],
        said: 1,
      });
    }
    const unverified = `store backup ${place.file('unverified')} --unverified`;
    expect(await typedAt(place, unverified)).toMatchObject({ exitCode: 0, asked: [] });
    expect((await typedAt(place, unverified)).stderr).not.toContain(why);
  });

  it('tells scripts that cannot be asked which variable it accepts, and not to unlock the unlocked store', async () => {
    const owner = place.with(KEY);
    await owner.with({ COFFER_NEW_PASSPHRASE: 'secret' }).ok('slots add --passphrase');
    writeFileSync(place.file('passphrase'), 'secret', { mode: 0o600 });
    writeFileSync(place.file('other-passphrase'), 'sheriff ethics unlock', { mode: 0o600 });
    const set =
      /set (?:COFFER_PASSPHRASE_FILE=FILE or COFFER_MASTER_KEY_FILE=FILE|COFFER_PASSPHRASE_FILE=FILE), or run this command on a terminal/;
    const managing = [
      'slots list',
      'slots add --raw',
      'doctor',
      `store backup ${place.file('backup-of-script')}`,
      `store copy ${place.file('store')} ${place.file('copy-of-script')}`,
      'store accept --yes',
      'rekey',
      `passphrase change --passphrase-file ${place.file('other-passphrase')}`,
    ];
    for (const line of ['token create --policy default', ...managing]) {
      await owner.ok('unlock');
      const refusal = await place.refused(line, 4);
      expect(refusal, line).toMatch(set);
      expect(refusal, line).not.toMatch(/coffer unlock|^coffer: the store is locked/);
      if (managing.includes(line))
        expect(refusal).toContain('unlocked, but this command always needs a secret that unlocks it');
      await place.with({ COFFER_PASSPHRASE_FILE: place.file('passphrase') }).ok(line);
    }
  });

  it('names the same variable while the store is locked, as unlocking it would not be enough', async () => {
    await place.with(KEY).with({ COFFER_NEW_PASSPHRASE: 'secret' }).ok('slots add --passphrase');
    await place.run('lock');
    for (const line of ['slots list', 'doctor', 'rekey', `store backup ${place.file('other')}`]) {
      const refusal = await place.refused(line, 4);
      expect(refusal, line).toContain('the store is locked (it can be unlocked with ');
      expect(refusal, line).toContain('or run this command on a terminal');
    }
    expect(await place.refused('transit keys list', 4)).toContain('run "coffer unlock" on a terminal');
  });
});
