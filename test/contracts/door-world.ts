import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCore } from '../../src/operations/core.ts';
import type { Runner, ServerState } from '../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../src/operations/runner.ts';
import { Log } from '../../src/service/log.ts';
import { Service } from '../../src/service/service.ts';
import { initStore } from '../../src/store/administration/init.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { issueToken, ownersCall, setPolicy } from '../servers/owner.ts';
import { KEY, openWithKey } from '../store/temporary-store.ts';

/** A record of the audit trail, as far as tests of doors look at it. */
export interface DoorRecord {
  readonly type: 'request' | 'response';
  readonly auth: { readonly display_name?: string; readonly client_token?: string };
  readonly request: { readonly operation: string; readonly path: string; readonly mount_point?: string };
  readonly response?: { readonly status: number };
}

/** A store with things that a policy denies and others that it allows, for doors to be opened on. */
export interface DoorWorld {
  readonly location: string;
  readonly auditFile: string;
  readonly log: Log;
  /** Whether the store is to be open behind the door. */
  readonly isOpen: boolean;
  readonly root: string;
  /** A token that may use only part of what is there. */
  readonly narrow: { readonly token: string; readonly accessor: string };
  /** Beside the door, as a command would: the store is opened once more. */
  owner<T>(work: (runner: Runner) => Promise<T>): Promise<T>;
  openStore(): Promise<SealedStore>;
  /** What was recorded since this was asked for last. */
  newRecords(): readonly DoorRecord[];
  /** Names of errors that nobody foresaw. */
  defects(): readonly string[];
  /** The same store, sealed. */
  sealed(): DoorWorld;
  remove(): void;
}

/** What stands in the answers about things that the narrow token is denied, and nowhere else. */
export const ADAS_POLICY = 'only-of-ada';
export const ACMES_ADDRESS = 'only-of-acme@example.org';

const NARROW = `
  path "auth/userpass/users/*" { capabilities = ["read", "update"] }
  path "auth/userpass/users/ada" { capabilities = ["deny"] }
  path "sys/policies/acl/*" { capabilities = ["read", "update"] }
  path "sys/policies/acl/hidden" { capabilities = ["deny"] }
  path "transit/keys/*" { capabilities = ["read", "create", "update"] }
  path "transit/keys/vital" { capabilities = ["deny"] }
  path "api/v2/organizations/*" { capabilities = ["read", "list", "create", "update"] }
  path "api/v2/organizations/acme" { capabilities = ["deny"] }
  path "api/v2/organizations/acme/workspaces" { capabilities = ["deny"] }
  path "api/v2/organizations/acme/workspaces/*" { capabilities = ["deny"] }
  path "api/v2/organizations/other/tags/secret" { capabilities = ["deny"] }
`;

/** @returns the world with a store that `KEY` opens, to be removed by whoever made it. */
export async function doorWorld(): Promise<DoorWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-door-'));
  const location = join(directory, 'store');
  const auditFile = join(directory, 'audit.log');
  await initStore({ location, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
  const openStore = () => openWithKey(location);
  const lines: string[] = [];
  let told = 0;
  const store = await openStore();
  const call = ownersCall(store);
  await setPolicy(call, 'narrow', NARROW);
  await fill(ownerRunner(openCore(store)));
  const root = (await issueToken(call, {})).token;
  const narrow = await issueToken(call, { policies: ['narrow'] });
  store.close();
  const world: DoorWorld = {
    location,
    auditFile,
    log: new Log((line) => lines.push(line)),
    isOpen: true,
    root,
    narrow,
    async owner(work) {
      const runner = ownerRunner(openCore(await openStore()));
      try {
        return await work(runner);
      } finally {
        runner.close();
      }
    },
    openStore,
    newRecords() {
      const all = existsSync(auditFile) ? readFileSync(auditFile, 'utf8').split('\n').filter(Boolean) : [];
      const found = all.slice(told);
      told = all.length;
      return found.map((line) => JSON.parse(line) as DoorRecord);
    },
    defects: () => lines.filter((line) => line.includes('"level":"error"')),
    sealed: () => ({ ...world, isOpen: false }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
  return world;
}

async function fill(owner: Runner): Promise<void> {
  const post = (path: string, parameters: object) =>
    owner.at({ method: 'POST', path, parameters: { ...parameters } });
  await post('sys/auth/userpass', { type: 'userpass' });
  await post('auth/userpass/users/ada', { password: 'open sesame', token_policies: [ADAS_POLICY] });
  await post('auth/userpass/users/bob', { password: 'open sesame', token_policies: ['only-of-bob'] });
  await post('sys/policies/acl/hidden', { policy: `path "${ADAS_POLICY}" { capabilities = ["read"] }` });
  for (const name of ['vital', 'other']) await post(`transit/keys/${name}`, { type: 'ed25519' });
  await owner.run('orgs create', { name: 'acme', email: ACMES_ADDRESS });
  await owner.run('orgs create', { name: 'other', email: 'other@example.org' });
  await owner.run('workspaces create', { organization_name: 'acme', name: 'hidden' });
  await owner.run('tags create', { organization_name: 'other', data: ['secret', 'plain'] });
}

/** A service over the store of a world, for doors that are opened on one. */
export async function serviceOf({
  location,
  auditFile,
  log,
  isOpen,
  openStore,
}: DoorWorld): Promise<Service> {
  const service = await Service.create({
    settings: { location, auditFile, workerCommand: [] },
    server: serverState,
    log,
  });
  if (isOpen) await service.adopt(await openStore());
  return service;
}

const status = { sealed: false, threshold: 1, shares: 1, progress: 0, storeId: 'contract' };
/** Sealing and unsealing are of the process around a door, which is not here. */
const serverState: ServerState = {
  sealStatus: async () => status,
  unseal: async () => status,
  resetUnseal: async () => status,
  seal: async () => undefined,
  reload: async () => undefined,
  metrics: async () => '',
  apiDocument: () => ({}),
};
