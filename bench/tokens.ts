/** Costs of batch tokens, rate of logins, and effects of a hundred thousand valid tokens. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Access } from '../src/access/access.ts';
import { ensureAccessKeys } from '../src/access/access-keys.ts';
import { accessorOf, freshTokenText, type Token } from '../src/access/token.ts';
import { putToken } from '../src/access/token-documents.ts';
import { systemClock } from '../src/ground/clock.ts';
import { systemRandom } from '../src/ground/random.ts';
import { openStore as openLibrary } from '../src/library.ts';
import { parseMasterKey } from '../src/store/master-key.ts';
import { openStore } from '../src/store/open.ts';
import type { SealedStore } from '../src/store/sealed/sealed-store.ts';
import {
  type Loaded,
  loaded,
  newStore,
  perRequestMs,
  residentMiB,
  row,
  type Server,
  startCoffer,
  type TestStore,
} from './http.ts';
import type { Request } from './load.ts';
import { median, type Row } from './measure.ts';

const PAIRS = 7;
const SHAPE = { connections: 16, depth: 1 };
const MEASURE_MS = 1_000;

const FEW = 100;
const MANY = 100_000;
/** Number of tokens per change while the store is filled. */
const AT_ONCE = 1_000;
const MONTH_MS = 32 * 24 * 3_600_000;

export async function run(): Promise<readonly Row[]> {
  const bundle = fileURLToPath(new URL('../dist/coffer.cjs', import.meta.url));
  if (!existsSync(bundle)) throw new Error('dist/coffer.cjs is missing: run "npm run build" first');
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    const store = await newStore(directory);
    const root = await rootToken(store);
    const server = await startCoffer(store, 1);
    try {
      return [
        await batchRequests(server, root),
        ...(await logins(server, root)),
        ...(await manyTokens(directory)),
      ];
    } finally {
      await server.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function rootToken({ location, masterKey }: TestStore): Promise<string> {
  const coffer = await openLibrary({ location, masterKey });
  const issued = (await coffer.token.create({})) as unknown as { client_token: string };
  coffer.close();
  return issued.client_token;
}

async function ask(
  { port }: Server,
  token: string,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
): Promise<any> {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
    method,
    headers: { 'x-service-token': token },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = await reply.text();
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${answer}`);
  return answer === '' ? undefined : JSON.parse(answer);
}

const post = (path: string, body: object, token?: string): Request => ({
  path: `/v1/${path}`,
  headers: token === undefined ? {} : { 'X-Service-Token': token },
  body: JSON.stringify(body),
});

const under = (server: Server, request: Request): Promise<Loaded> =>
  loaded({ ...server, request }, SHAPE, MEASURE_MS);

async function batchRequests(server: Server, root: string): Promise<Row> {
  const request = async (type: string) => {
    const { auth } = await ask(server, root, 'POST', 'auth/token/create', { policies: ['app'], type });
    return post('transit/encrypt/bench', { plaintext: 'aGVsbG8=' }, auth.client_token);
  };
  const [batch, service] = [await request('batch'), await request('service')];
  for (const warmUp of [batch, service]) await under(server, warmUp);
  const pairs: [number, number][] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    pairs.push([(await under(server, batch)).processorMs, (await under(server, service)).processorMs]);
  }
  return row('request with a batch token, processor time', pairs, (ms) => ms, 'a service token', 1.1);
}

/** Measures logins in wall-clock time. The floor is the promised value. */
async function logins(server: Server, root: string): Promise<readonly Row[]> {
  await ask(server, root, 'POST', 'sys/auth/approle', { type: 'approle' });
  const byRole = async (token_type: string): Promise<Request> => {
    const role = `auth/approle/role/${token_type}`;
    await ask(server, root, 'POST', role, { token_policies: 'app', token_type, token_ttl: '1h' });
    const { role_id } = (await ask(server, root, 'GET', `${role}/role-id`)).data;
    const { secret_id } = (await ask(server, root, 'POST', `${role}/secret-id`, {})).data;
    return post('auth/approle/login', { role_id, secret_id });
  };
  return [
    await loginRow(server, 'login, a service token by AppRole', await byRole('service'), 150),
    await loginRow(server, 'login, a batch token by AppRole', await byRole('batch'), 2_000),
    await loginRow(server, 'login, a batch token by a JWT (RS256)', await byJwt(server, root), 2_000),
  ];
}

async function loginRow(server: Server, name: string, request: Request, perSecond: number): Promise<Row> {
  await under(server, request);
  const turns: Loaded[] = [];
  for (let turn = 0; turn < PAIRS; turn += 1) turns.push(await under(server, request));
  const times = turns.map(perRequestMs);
  const processor = turns.map(({ processorMs }) => processorMs);
  const floorName = `${perSecond} a second`;
  const shown = `${name} (${median(processor).toFixed(2)} ms of processor)`;
  return row(shown, [[median(times), 1_000 / perSecond]], (ms) => ms, floorName, 1);
}

async function byJwt(server: Server, root: string): Promise<Request> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  await ask(server, root, 'POST', 'sys/auth/jwt', { type: 'jwt' });
  await ask(server, root, 'POST', 'auth/jwt/config', { jwt_validation_pubkeys: [pem] });
  await ask(server, root, 'POST', 'auth/jwt/role/job', {
    role_type: 'jwt',
    user_claim: 'sub',
    bound_audiences: ['bench'],
    token_policies: 'app',
    token_type: 'batch',
  });
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: 'job', aud: 'bench', iat: now, exp: now + 3600, jti: randomUUID() };
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url');
  return post('auth/jwt/login', { role: 'job', jwt: `${signed}.${signature}` });
}

/** Store with that many valid tokens. */
interface Filled {
  readonly store: TestStore;
  readonly opened: SealedStore;
  readonly access: Access;
  /** Texts of some tokens. */
  readonly texts: readonly string[];
}

async function filled(directory: string, count: number): Promise<Filled> {
  const store = await newStore(directory, join(directory, `store-${count}`));
  const opened = await openStore({
    location: store.location,
    credentials: [{ kind: 'raw', source: 'the benchmark', reveal: () => parseMasterKey(store.masterKey) }],
  });
  const { tokens: key } = await ensureAccessKeys(opened, systemRandom);
  const texts: string[] = [];
  const createdMs = Math.floor(Date.now() / 1000) * 1000;
  for (let done = 0; done < count; done += AT_ONCE) {
    await opened.transact(async (tx) => {
      for (let index = done; index < Math.min(count, done + AT_ONCE); index += 1) {
        const text = freshTokenText(systemRandom);
        const ttlMs = Math.ceil((MONTH_MS * (index + 1)) / count / 1000) * 1000;
        await putToken(tx, accessorOf(key, text), living(createdMs, ttlMs + 3_600_000));
        if (index % (count / FEW) === 0) texts.push(text);
      }
    });
  }
  const access = new Access({ store: opened, clock: systemClock, random: systemRandom });
  return { store, opened, access, texts };
}

const living = (createdMs: number, ttlMs: number): Token => ({
  displayName: 'token',
  policies: ['app', 'default'],
  path: 'auth/token/create',
  meta: null,
  createdMs,
  creationTtl: ttlMs / 1000,
  expiresMs: createdMs + ttlMs,
  renewable: true,
  explicitMaxTtl: 0,
  period: 0,
});

async function manyTokens(directory: string): Promise<readonly Row[]> {
  const [few, many] = [await filled(directory, FEW), await filled(directory, MANY)];
  const compare = async (name: string, work: (filled: Filled) => Promise<unknown>): Promise<Row> => {
    for (const one of [few, many]) await processorOf(() => work(one));
    const pairs: [number, number][] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      pairs.push([await processorOf(() => work(many)), await processorOf(() => work(few))]);
    }
    return row(`${name}, 100,000 living tokens`, pairs, (ms) => ms, '100 of them', 3);
  };
  const rows = [
    await compare('make a token', async ({ access }) => {
      for (let count = 0; count < 20; count += 1) await makeToken(access);
    }),
    await compare('look up 100 tokens', async ({ access, texts }) => {
      for (const text of texts) {
        if ((await access.tokens.find(text)) === undefined) throw new Error('a token is not there');
      }
    }),
    await compare('know 100 tokens after a change', async ({ access, opened, texts }) => {
      await opened.transact((tx) => tx.put({ collection: 'bench', id: 'x' }, { at: Date.now() }));
      for (const text of texts) {
        if ((await access.authenticate(text)) === undefined) throw new Error('a token is not good');
      }
    }),
    await compare('tidy', ({ access }) => access.tokens.tidy()),
  ];
  for (const { opened } of [few, many]) opened.close();
  return [...rows, await memory(many)];
}

const makeToken = (access: Access) =>
  access.tokens.create(
    {
      policies: ['app'],
      noDefaultPolicy: false,
      ttl: 3600,
      explicitMaxTtl: 0,
      period: 0,
      renewable: true,
      numUses: 0,
      orphan: 'no',
      displayName: '',
      meta: null,
      id: '',
      path: 'auth/token/create',
    },
    { sudo: true },
  );

/** Measures processor time for user and system, in milliseconds. */
async function processorOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Measures the memory of a server after tokens were created, looked up and tidied, in MiB; the floor is the promised
 * maximum.
 */
async function memory({ store, texts }: Filled): Promise<Row> {
  const root = await rootToken(store);
  const server = await startCoffer(store, 1);
  try {
    for (let turn = 0; turn < 10; turn += 1) await ask(server, root, 'POST', 'auth/token/tidy');
    for (const token of texts) await ask(server, token, 'GET', 'auth/token/lookup-self');
    for (let turn = 0; turn < 20; turn += 1) await ask(server, root, 'POST', 'auth/token/create', {});
    return row('100,000 tokens, MiB resident', [[residentMiB(server.pid), 150]], (mib) => mib, 'promised', 1);
  } finally {
    await server.close();
  }
}
