import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Apis } from '../../src/doors/http/http-door.ts';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import type { Call, ServerState } from '../../src/operations/declaration/operation.ts';
import { loadRoutes, type ServedRoute } from '../../src/operations/routes.ts';
import { Log } from '../../src/service/log.ts';
import { Service } from '../../src/service/service.ts';
import { newStore } from '../../src/store/administration/init.ts';
import { examineBackend } from '../../src/store/administration/repair.ts';
import { MemoryBackend } from '../../src/store/backends/memory.ts';
import { openBackend } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';
import { readBackup } from '../../src/transit/backup/restore-key.ts';
import { onlyValue } from '../../src/transit/batch.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import type { StoredMaterial } from '../../src/transit/key-types/key-type.ts';
import { createKey, type NewKey } from '../../src/transit/lifecycle.ts';
import { issueToken, ownersCall, setPolicy } from '../servers/owner.ts';
import { goKeys, secretPart } from './go-keys.ts';
import type { Secrets } from './secrets.ts';
import { Defect } from './target.ts';

/** A plaintext that nobody but who may decrypt it must see. */
export const SECRET_TEXT = 'Vx7qPm2kZt9wRb4nYc6hJd1s';

/** What requests are made of: names and identifiers of what is there. */
export interface Content {
  readonly keys: readonly string[];
  readonly ciphertexts: Readonly<Record<string, string>>;
  readonly workspaces: readonly string[];
  readonly tags: readonly string[];
  /** May do everything; may read; is none. */
  readonly tokens: { root: string; readonly reader: string; readonly accessor: string };
}

/** Both APIs over a store in memory, with content of every kind. */
export interface ServedWorld {
  readonly apis: Apis;
  readonly store: SealedStore;
  readonly routes: readonly ServedRoute[];
  readonly content: Content;
  /** Sees to it that the token that may do everything is good, whatever was done to it. */
  keepRoot(): Promise<void>;
  /** Checks what was logged and audited, and that the store is sound. */
  close(): Promise<void>;
}

let routesOnce: Promise<readonly ServedRoute[]> | undefined;

export async function openServedWorld(secrets: Secrets): Promise<ServedWorld> {
  routesOnce ??= loadRoutes(catalogue);
  const routes = await routesOnce;
  const key = systemRandom.bytes(32);
  secrets.add('the master key', Buffer.from(key));
  const credential: Credential = { kind: 'raw', source: 'the test key', reveal: () => Buffer.from(key) };
  const { content: initial } = await newStore(
    [{ kind: 'raw', key: Buffer.from(key) }],
    systemClock,
    systemRandom,
  );
  const backend = await MemoryBackend.create(initial);
  const store = await openBackend(backend, [credential]);
  const root = await store.keyring.root(backend, 1);
  secrets.add('the root key', root.export());
  const content = await fill(store, secrets);
  const directory = mkdtempSync(join(tmpdir(), 'coffer-fuzz-served-'));
  const auditFile = join(directory, 'audit');
  const lines: string[] = [];
  const service = await Service.create({
    settings: { location: directory, auditFile, workerCommand: [] },
    server: serverState,
    log: new Log((line) => lines.push(line)),
  });
  await service.adopt(store);
  return {
    apis: new Apis(service, routes, () => ({})),
    store,
    routes,
    content,
    async keepRoot() {
      const { tokens } = content;
      if ((await service.served?.access.identify({ token: tokens.root })) === undefined) {
        tokens.root = (await secretToken(ownersCall(store), {}, secrets)).token;
      }
    },
    async close() {
      const { findings } = await examineBackend(backend, [credential]);
      await service.close();
      const audit = readFileSync(auditFile, 'utf8');
      rmSync(directory, { recursive: true, force: true });
      for (const line of audit.split('\n')) secrets.examine(line, 'the audit trail');
      for (const line of lines) secrets.examine(line, 'the log');
      const [defect] = lines.filter((line) => line.includes('"level":"error"'));
      if (defect !== undefined) throw new Defect(`logged: ${defect}`);
      if (findings.length > 0) throw new Defect(`the store is damaged: ${JSON.stringify(findings)}`);
    },
  };
}

/** Sealing and unsealing are of the process around the APIs, which is not here. */
const status = { sealed: false, threshold: 1, shares: 1, progress: 0, storeId: 'fuzz' };
const serverState: ServerState = {
  sealStatus: async () => status,
  unseal: async () => status,
  resetUnseal: async () => status,
  seal: async () => {},
  reload: async () => {},
  metrics: async () => '',
  apiDocument: () => ({}),
};

const KEYS: Readonly<Record<string, Partial<NewKey>>> = {
  orders: { type: 'aes256-gcm96', exportable: true, allowPlaintextBackup: true },
  derived: { type: 'aes256-gcm96', derived: true },
  convergent: { type: 'chacha20-poly1305', derived: true, convergentEncryption: true },
  small: { type: 'aes128-gcm96' },
  wide: { type: 'xchacha20-poly1305' },
  edwards: { type: 'ed25519', exportable: true },
  curve: { type: 'ecdsa-p256', exportable: true },
  mac: { type: 'hmac', keyBytes: 32 },
};
const SETTINGS: NewKey = {
  type: '',
  derived: false,
  convergentEncryption: false,
  exportable: false,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
  keyBytes: 0,
};
const READER_POLICY = 'path "transit/keys/*" { capabilities = ["read", "list"] }';

async function fill(store: SealedStore, secrets: Secrets): Promise<Content> {
  const call = ownersCall(store);
  const engine = await call.core.engine('transit');
  wrappingKeyOnce ??= goWrappingKey();
  const wrappingKey = await wrappingKeyOnce;
  await store.transact((tx) => tx.put({ collection: engine.settings, id: 'wrapping-key' }, wrappingKey));
  secrets.add('the plaintext', SECRET_TEXT);
  const ciphertexts: Record<string, string> = {};
  for (const [name, settings] of Object.entries(KEYS)) {
    const { document, encrypts } = (await createKey(engine, name, { ...SETTINGS, ...settings })).key;
    for (const { secret = '', hmacKey = '' } of Object.values(document.versions)) {
      if (secret !== '') secrets.add(`the key ${name}`, secretPart(Buffer.from(secret, 'base64')));
      if (hmacKey !== '') secrets.add(`the HMAC key of ${name}`, Buffer.from(hmacKey, 'base64'));
    }
    if (!encrypts) continue;
    const item = { plaintext: Buffer.from(SECRET_TEXT).toString('base64'), context: 'AAAA', keyVersion: 0 };
    const options = { type: '', convergentEncryption: false, mayCreate: false, mayUpdate: true };
    ciphertexts[name] = onlyValue(await encrypt(engine, name, [item], options)).ciphertext;
  }
  return {
    keys: Object.keys(KEYS),
    ciphertexts,
    ...(await tagged(call)),
    tokens: await tokens(call, secrets),
  };
}

let wrappingKeyOnce: Promise<StoredMaterial> | undefined;

/** To make one takes seconds. */
async function goWrappingKey(): Promise<StoredMaterial> {
  const backup = goKeys.find(({ name }) => name === 'rsa-4096')?.backup ?? '';
  const { versions } = await readBackup(backup, undefined, systemRandom);
  const { secret = '', publicKey = '' } = versions['1'] ?? {};
  return { secret, publicKey };
}

async function tagged({ core }: Call): Promise<Pick<Content, 'workspaces' | 'tags'>> {
  const { organizations, pool, workspaces } = await core.tags();
  await organizations.create({ name: 'acme', email: null });
  const made = [];
  for (const name of ['billing', 'web', 'core']) {
    const tags = [{ name: 'env:prod' }, { name: `team:${name}` }];
    made.push(await workspaces.create('acme', { name, description: null, tags }));
  }
  const page = await pool.list('acme', { page: { number: 1, size: 20 } });
  return { workspaces: made.map(({ id }) => id), tags: page.items.map(({ id }) => id) };
}

async function tokens(call: Call, secrets: Secrets): Promise<Content['tokens']> {
  await setPolicy(call, 'reader', READER_POLICY);
  const reader = await secretToken(call, { policies: ['reader'], no_default_policy: true }, secrets);
  const root = await secretToken(call, {}, secrets);
  return { root: root.token, reader: reader.token, accessor: reader.accessor };
}

/** A token that nothing may print. */
async function secretToken(
  call: Call,
  raw: Readonly<Record<string, unknown>>,
  secrets: Secrets,
): Promise<{ readonly token: string; readonly accessor: string }> {
  const issued = await issueToken(call, raw);
  secrets.add('a token', issued.token);
  return issued;
}
