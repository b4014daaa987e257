import { mkdtempSync, rmSync } from 'node:fs';
import { type Agent, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { type HttpServeOptions, type HttpServing, serve } from '../../src/doors/http/serve.ts';
import type { Call } from '../../src/operations/declaration/operation.ts';
import { initStore } from '../../src/store/administration/init.ts';
import { openStore } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';
import { builtCommand } from '../built.ts';
import { issueToken as issue, ownersCall, setPolicy as set } from './owner.ts';

export { selfSigned } from './self-signed.ts';

import { type ServerProcess, startServerProcess } from './server-process.ts';
import { workerCommand } from './worker-command.ts';

/** The master key of the stores that these tests make. */
export const KEY = Uint8Array.from({ length: 32 }, (_, index) => index);
export const MASTER_KEY = Buffer.from(KEY).toString('base64');

const credential = (): Credential => ({
  kind: 'raw',
  source: 'the test key',
  reveal: () => Uint8Array.from(KEY),
});

export interface TestServer extends HttpServing {
  readonly directory: string;
  /** A token that may do everything. */
  readonly token: string;
  /** The first address. */
  readonly address: string;
  readonly log: readonly string[];
}

/** Takes down when its cleaner is to run: after a test, or after all tests of a file or group. */
export type CleanLater = (clean: () => Promise<void> | void) => void;

/**
 * For what is made in `beforeAll`: to be called where `afterAll` could be, because hooks that are added from within
 * another hook never run.
 */
export function cleanUpAfterAll(): CleanLater {
  const cleaners: (() => Promise<void> | void)[] = [];
  afterAll(async () => {
    for (const clean of cleaners.reverse()) await clean();
  });
  return (clean) => void cleaners.push(clean);
}

/** A directory that is gone after the test (or after all of them, when made outside of one). */
export function temporaryDirectory(forgetAfter: CleanLater = onTestFinished): string {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-http-'));
  forgetAfter(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A server over a fresh store, closed after the test. */
export async function startServer(
  options: Partial<HttpServeOptions> & { readonly location?: string } = {},
  finished: CleanLater = onTestFinished,
): Promise<TestServer> {
  const directory = options.location ?? join(temporaryDirectory(finished), 'store');
  const isNew = options.location === undefined;
  if (isNew) await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
  const log: string[] = [];
  const token = isNew ? await issueToken(directory, {}) : '';
  const serving = await serve({
    location: directory,
    credentials: [credential()],
    listen: ['127.0.0.1:0'],
    workerCommand: workerCommand(),
    log: (line) => log.push(line),
    ...options,
  });
  finished(() => serving.close());
  return { ...serving, directory, token, log, address: serving.addresses[0] ?? '' };
}

/** What of the options of a server its command has flags for. */
type FlagOptions = Partial<
  Pick<HttpServeOptions, 'listen' | 'socket' | 'workers' | 'auditFile'> & {
    readonly location: string;
    readonly tls: { readonly certificateFile: string; readonly keyFile: string };
  }
>;

const flag = (name: string, value: string | number | undefined): readonly string[] =>
  value === undefined ? [] : [`--${name}`, String(value)];

/** The environment without what would set up the server or a client of it. */
const withoutSettings = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(?:COFFER|VAULT)_/.test(name)));

/** As `startServer`, by the command as it is shipped in a process of its own, which is ended after the test. */
export async function spawnServer(
  options: FlagOptions = {},
  finished: CleanLater = onTestFinished,
): Promise<ServerProcess & Pick<TestServer, 'directory' | 'token'>> {
  const home = temporaryDirectory(finished);
  const directory = join(home, 'store');
  await initStore({ location: directory, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
  const token = await issueToken(directory, {});
  const { location = directory, listen = ['127.0.0.1:0'], tls } = options;
  const words = [
    builtCommand(),
    'serve',
    ...listen.flatMap((address) => flag('listen', address)),
    ...flag('socket', options.socket),
    ...flag('workers', options.workers),
    ...flag('audit-log', options.auditFile),
    ...flag('tls-cert', tls?.certificateFile),
    ...flag('tls-key', tls?.keyFile),
  ];
  const environment = {
    ...withoutSettings(process.env),
    HOME: home,
    COFFER_STORE: location,
    COFFER_MASTER_KEY: MASTER_KEY,
  };
  const server = await startServerProcess(words, { environment });
  finished(() => server.stop());
  return { ...server, directory, token };
}

export const openTestStore = (directory: string): Promise<SealedStore> =>
  openStore({ location: directory, credentials: [credential()] });

/** What a command run beside the server does. */
export async function locally<T>(directory: string, run: (call: Call) => Promise<T>): Promise<T> {
  const store = await openTestStore(directory);
  try {
    return await run(ownersCall(store));
  } finally {
    store.close();
  }
}

/** A token made by the owner; without policies it may do everything. */
export async function issueToken(directory: string, raw: Readonly<Record<string, unknown>>): Promise<string> {
  return (await locally(directory, (call) => issue(call, raw))).token;
}

/** Writes a policy in Vault's form, as the owner. */
export const setPolicy = (directory: string, name: string, policy: string): Promise<void> =>
  locally(directory, (call) => set(call, name, policy));

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined when it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface SendOptions {
  readonly token?: string | undefined;
  /** Those that are undefined are not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** An object is sent as JSON, a text or bytes as they are. */
  readonly body?: unknown;
  readonly ca?: string | undefined;
  /** The certificate of the client with what signed it, and its key; PEM. */
  readonly client?: { readonly cert: string; readonly key: string } | undefined;
  readonly agent?: Agent | undefined;
}

/** Sends one request; the address may be that of a Unix socket. */
export function send(
  address: string,
  method: string,
  path: string,
  options: SendOptions = {},
): Promise<Reply> {
  const { token, headers = {}, body, ca, client, agent } = options;
  const bytes =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array
      ? body
      : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const isSecure = address.startsWith('https:');
  const target = address.startsWith('unix:')
    ? { socketPath: address.slice('unix:'.length), path }
    : { ...urlParts(address), path, ca, ...client };
  const sent = (isSecure ? secureRequest : request)(
    {
      ...target,
      method,
      agent,
    },
    (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = /json/.test(answer.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    },
  );
  const all = {
    'x-service-token': token,
    // Node sends a body with DELETE, but not its length.
    'content-length': bytes === undefined ? undefined : String(Buffer.byteLength(bytes)),
    ...headers,
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) sent.setHeader(name, value);
  sent.on('error', reject);
  sent.end(bytes);
  return promise;
}

function urlParts(address: string): { readonly host: string; readonly port: string } {
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port };
}
