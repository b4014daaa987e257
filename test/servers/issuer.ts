/**
 * An issuer of tokens, as pipelines and clusters have one: keys of its own, discovery and key set over TLS on the loopback interface.
 * It answers from a thread of its own, so tests may wait for a command that asks it.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { freePort } from './ports.ts';
import { type CleanLater, selfSigned, temporaryDirectory } from './serving.ts';
import { type Claims, jwkOf, nowSeconds, type SigningKey, signingKey, signToken } from './signing-key.ts';

export { type Claims, nowSeconds, type SigningKey, signingKey, signToken } from './signing-key.ts';

/** What becomes of a request for the discovery document or the key set. */
export type Behaviour =
  | 'ordinary'
  | 'hangs'
  | 'hangs up'
  | { readonly redirect: string }
  | { readonly status: number; readonly body: string }
  /** 10 GiB as fast as they are taken, or a byte now and then for as long as somebody listens. */
  | { readonly endless: 'fast' | 'slowly' };

/** What the thread is started with, and what it is told. */
export interface IssuerState {
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly published: readonly object[];
  readonly discovery: Behaviour;
  readonly keys: Behaviour;
  readonly jobToken?: JobToken;
}

/** What the runner of GitHub Actions would hand out, by audience; `''` where the job asks for none. */
export interface JobToken {
  readonly bearer: string;
  readonly tokens: Readonly<Record<string, string>>;
}

export interface IssuerStart {
  readonly certificate: string;
  readonly key: string;
  readonly issuerPath: string;
  /** Of the secure and the plain server. */
  readonly ports: readonly [number, number];
  readonly state: IssuerState;
}

export type IssuerOrder =
  | { readonly order: 'behave'; readonly state: IssuerState }
  | { readonly order: 'asked' | 'forget' }
  | { readonly order: 'listen'; readonly up: boolean };

export interface Issuer {
  /** What stands in `iss`, and the base of discovery, e.g. `https://127.0.0.1:40111`. */
  readonly url: string;
  readonly jwksUrl: string;
  /** The same two without TLS. */
  readonly plainUrl: string;
  readonly plainJwksUrl: string;
  /** The certificate to trust it by. */
  readonly ca: string;
  /** In a file: for `NODE_EXTRA_CA_CERTS` and `@FILE`. */
  readonly caFile: string;
  readonly key: SigningKey;
  /** Signs with `key`; `iss`, `iat`, `nbf` and `exp` in five minutes are added unless they are given; undefined leaves one out. */
  token(claims: Claims, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** What it does from now on; what is left out stays. */
  behave(change: Partial<IssuerState>): Promise<void>;
  /** Other keys from now on, as JSON Web Keys with `kid`, `alg` and `use`. */
  publish(keys: readonly SigningKey[]): Promise<void>;
  /** The paths that were asked for since it was last told to forget them. */
  asked(): Promise<readonly string[]>;
  forget(): Promise<void>;
  /** Nobody listens any more, until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Ends its thread. */
  stop(): Promise<void>;
}

/** @param issuerPath below which discovery lies, for issuers that have one, e.g. `/id/ABC`. */
export async function startIssuer(
  { alg = 'RS256', issuerPath = '' }: { readonly alg?: SigningKey['alg']; readonly issuerPath?: string } = {},
  finished: CleanLater = onTestFinished,
): Promise<Issuer> {
  const { certificateFile, keyFile, pem } = selfSigned(temporaryDirectory(finished));
  const key = signingKey(alg);
  let state: IssuerState = {
    ...{ issuer: '', jwksUrl: '', discovery: 'ordinary', keys: 'ordinary' },
    published: [jwkOf(key)],
  };
  const [securePort, plainPort] = [await freePort(), await freePort()];
  const start: IssuerStart = {
    ...{ certificate: pem, key: readFileSync(keyFile, 'utf8'), issuerPath, state },
    ports: [securePort, plainPort],
  };
  const worker = new Worker(new URL('issuer-program.ts', import.meta.url), { workerData: start });
  // A test run must not wait for it.
  worker.unref();
  await once(worker, 'message');
  let last: Promise<unknown> = Promise.resolve();
  // One after the other, so that each answer is told from the next.
  const tell = (order: IssuerOrder): Promise<readonly string[]> => {
    const told = last.then(async () => {
      const answer = once(worker, 'message');
      worker.postMessage(order);
      const [asked] = (await answer) as [readonly string[]];
      return asked;
    });
    last = told;
    return told;
  };
  const behave = async (change: Partial<IssuerState>): Promise<void> => {
    state = { ...state, ...change };
    await tell({ order: 'behave', state });
  };
  const stop = async (): Promise<void> => void (await worker.terminate());
  finished(stop);
  const origin = `https://127.0.0.1:${securePort}`;
  const plainOrigin = `http://127.0.0.1:${plainPort}`;
  const url = origin + issuerPath;
  await behave({ issuer: url, jwksUrl: `${origin}/keys` });
  return {
    url,
    jwksUrl: `${origin}/keys`,
    plainUrl: plainOrigin + issuerPath,
    plainJwksUrl: `${plainOrigin}/keys`,
    ca: pem,
    caFile: certificateFile,
    key,
    token: (claims, header) => signToken(key, { ...ordinaryTimes(), iss: url, ...claims }, header),
    behave,
    publish: (keys) => behave({ published: keys.map(jwkOf) }),
    asked: () => tell({ order: 'asked' }),
    forget: async () => void (await tell({ order: 'forget' })),
    down: async () => void (await tell({ order: 'listen', up: false })),
    up: async () => void (await tell({ order: 'listen', up: true })),
    stop,
  };
}

const ordinaryTimes = (): Claims => {
  const now = nowSeconds();
  return { iat: now, nbf: now, exp: now + 300 };
};
