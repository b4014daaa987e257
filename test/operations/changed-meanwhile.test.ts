import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { collectionOf } from '../../src/mounts/mounts.ts';
import { openCore } from '../../src/operations/core.ts';
import type { Core } from '../../src/operations/declaration/operation.ts';
import { MOUNT_TYPES } from '../../src/operations/mount-types.ts';
import { ownerRunner } from '../../src/operations/runner.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { failureOf } from '../access/room.ts';
import { ClientCertificates } from '../reference/client-certificates.ts';
import { signingKey } from '../servers/signing-key.ts';
import { memoryStore } from '../store/memory-store.ts';

type Values = Readonly<Record<string, unknown>>;

const made = new ClientCertificates();
afterAll(() => made.close());
const ca = made.authority('ca');
const PEM = signingKey('ES256').publicPem;
const ROLE = { role_type: 'jwt', user_claim: 'sub', bound_subject: 'me' };

let store: SealedStore;
let core: Core;
beforeEach(async () => {
  store = await memoryStore();
  core = openCore(store);
});

const run = async (operation: string, values: Values, path = ''): Promise<unknown> =>
  (await ownerRunner(core).run(operation, values, `auth/${path}`)).data;

/** How something ends, when somebody else changes the store after it looked and before it writes. */
function endOf(work: () => Promise<unknown>, meanwhile: () => Promise<unknown>) {
  const transact = store.transact.bind(store);
  vi.spyOn(store, 'transact').mockImplementationOnce(async (change) => {
    await meanwhile();
    return transact(change);
  });
  return failureOf(work);
}

describe('what is deleted meanwhile', () => {
  it.each<[string, Values, [string, string]]>([
    ['password', { password: 'other' }, ['invalid', 'username does not exist']],
    ['policies', { token_policies: ['app'] }, ['invalid', 'username does not exist']],
  ])('is no user that a change of %s brings back', async (what, change, refusal) => {
    await run('auth enable', { type: 'userpass', path: 'userpass' });
    const bounds = { token_bound_cidrs: ['10.0.0.0/8'], token_no_default_policy: true };
    await run('auth userpass write', { name: 'ada', password: 'one', ...bounds }, 'userpass');
    const work = () => run(`auth userpass ${what}`, { name: 'ada', ...change }, 'userpass');
    const remove = () => run('auth userpass delete', { name: 'ada' }, 'userpass');
    expect(await endOf(work, remove)).toEqual(refusal);
    expect(await run('auth userpass list', {}, 'userpass')).toEqual({ keys: [] });
  });

  it.each<[string, Values]>([
    ['set-role-id', { role_id: 'mine' }],
    ['set-field', { field: 'token-ttl', token_ttl: '1h' }],
    ['reset-field', { field: 'token-ttl' }],
  ])('is no role of approle that %s makes anew', async (what, change) => {
    await run('auth enable', { type: 'approle', path: 'approle' });
    await run('auth approle write', { role_name: 'r', token_policies: ['app'] }, 'approle');
    const work = () => run(`auth approle ${what}`, { role_name: 'r', ...change }, 'approle');
    const remove = () => run('auth approle delete', { role_name: 'r' }, 'approle');
    expect(await endOf(work, remove)).toEqual(['not-found', 'no role r']);
    expect(await run('auth approle list', {}, 'approle')).toEqual({ keys: [] });
  });
});

describe('a method that is disabled meanwhile', () => {
  it.each<[string, string, () => Values]>([
    ['userpass', 'write', () => ({ name: 'ada', password: 'one' })],
    ['approle', 'write', () => ({ role_name: 'r' })],
    ['jwt', 'write', () => ({ name: 'r', ...ROLE })],
    ['jwt', 'configure', () => ({ jwt_validation_pubkeys: [PEM] })],
    ['cert', 'write', () => ({ name: 'r', certificate: ca.cert })],
    ['cert', 'set-revocations', () => ({ name: 'l', crl: made.revocationList(ca, []) })],
    ['cert', 'set-config', () => ({ disable_binding: true })],
  ])('keeps nothing of %s %s', async (type, what, values) => {
    await run('auth enable', { type, path: 'it' });
    const mount = await core.mounts.get('auth/it');
    const sent = values();
    const work = () => run(`auth ${type} ${what}`, sent, 'it');
    const gone = ['not-found', 'no handler for route "auth/it". route entry not found.'];
    expect(await endOf(work, () => run('auth disable', { path: 'it' }))).toEqual(gone);
    const { collections = [] } = MOUNT_TYPES.find(({ name }) => name === type) ?? {};
    for (const name of collections) {
      expect(await store.read((view) => view.list(collectionOf(mount, name)))).toEqual([]);
    }
  });
});

describe('two changes of the settings of a mount', () => {
  it.each([
    ['auth tune', 'people', 'auth read'],
    ['mounts tune', 'auth/people', 'mounts read'],
  ])('by %s at once both hold', async (tune, path, read) => {
    await run('auth enable', { type: 'userpass', path: 'people' });
    const first = () => run(tune, { path, max_lease_ttl: '1h' });
    expect(await endOf(first, () => run(tune, { path, description: 'x', force_no_cache: true }))).toBe(
      'none',
    );
    expect(await run(read, { path })).toMatchObject({
      description: 'x',
      config: { max_lease_ttl: 3600, force_no_cache: true },
    });
  });
});
