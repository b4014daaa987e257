import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { ROOT_TOKEN, withSecureOpenBao } from '../bao/dev-server.ts';
import { installBao, version } from '../bao/openbao.ts';
import type { Bench, Client } from '../client.ts';
import { type Answer, differences } from './compare.ts';
import { DELIBERATE } from './deliberate.ts';
import { SUBJECTS } from './requests.ts';
import type { ClientCertificate, Step, Subject } from './step.ts';

/** One of the two servers, which speaks TLS. */
interface Asked {
  readonly address: string;
  /** Of its certificate. */
  readonly authority: string;
  readonly root: string;
}

/** One of the two servers, with what its answers gave. */
class Side {
  readonly #asked: Asked;
  readonly #certificates: Readonly<Record<string, ClientCertificate>>;
  readonly #kept: Map<string, string>;

  constructor(asked: Asked, { known = {}, certificates = {} }: Subject) {
    this.#asked = asked;
    this.#certificates = certificates;
    this.#kept = new Map([
      ...Object.entries(known),
      ['', ''],
      ['root', asked.root],
      ['stale', 's.aaaaaaaaaaaaaaaaaaaaaaaa'],
    ]);
  }

  async send([
    line,
    body,
    { as = 'root', headers = {}, keep = {}, showing = '' } = {},
  ]: Step): Promise<Answer> {
    const [method = '', path = ''] = line.split(' ');
    const token = this.#kept.get(as) ?? as;
    const content = body === undefined ? undefined : this.#filled(JSON.stringify(body));
    const all: Record<string, string> = { 'x-vault-request': 'true' };
    if (token !== '') all['x-vault-token'] = token;
    if (content !== undefined) {
      all['content-type'] = 'application/json';
      all['content-length'] = String(Buffer.byteLength(content));
    }
    const { status, text } = await this.#ask(method, this.#filled(path), content, showing, {
      ...all,
      ...headers,
    });
    const parsed = parse(text);
    for (const [name, place] of Object.entries(keep)) this.#kept.set(name, String(memberAt(parsed, place)));
    return { status, body: parsed };
  }

  /** On a connection of its own: a certificate belongs to one. */
  async #ask(
    method: string,
    path: string,
    content: string | undefined,
    showing: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { address, authority } = this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request(
      `${address}/v1/${path}`,
      { method, headers, agent: false, ca: authority, ...this.#certificates[showing] },
      resolve,
    )
      .on('error', reject)
      .end(content);
    const answer = await promise;
    return { status: answer.statusCode ?? 0, text: await textOf(answer) };
  }

  #filled(text: string): string {
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => this.#kept.get(name) ?? whole);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const memberAt = (value: unknown, place: string): unknown =>
  place
    .split('.')
    .reduce<unknown>(
      (at, name) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[name],
      value,
    );

const PREPARED: readonly Step[] = [
  ['DELETE sys/auth/approle'],
  ['DELETE sys/auth/people'],
  ['DELETE sys/auth/userpass'],
  ['POST sys/auth/userpass', { type: 'userpass' }],
  ['POST sys/policies/acl/app', { policy: 'path "transit/*" { capabilities = ["read"] }' }],
  ['POST sys/policies/acl/other', { policy: 'path "transit/*" { capabilities = ["list"] }' }],
];

/** The same words are asked about several subjects, and not of each the answers differ. */
const IN_ANOTHER = new Set(['GET auth/token/lookup-self', 'POST auth/token/renew-self {}']);

async function compared(bench: Bench, subject: () => Promise<Subject>): Promise<void> {
  const asked = await subject();
  const { steps, enables = [] } = asked;
  if (bench.certificate === undefined) throw new Error('our server speaks no TLS');
  const authority = readFileSync(bench.certificate, 'utf8');
  const wrong = await withSecureOpenBao(bench.installed, bench.directory, async (address, theirAuthority) => {
    const ours = new Side({ address: bench.address, authority, root: bench.token }, asked);
    const theirs = new Side({ address, authority: theirAuthority, root: ROOT_TOKEN }, asked);
    const found: string[] = [];
    const meant = new Map<string, boolean>();
    const before = enables.map((type): Step => [`POST sys/auth/${type}`, { type }]);
    for (const step of [...PREPARED, ...before]) await Promise.all([ours.send(step), theirs.send(step)]);
    for (const step of steps) {
      const [line, body, { showing } = {}] = step;
      const [one, other] = await Promise.all([ours.send(step), theirs.send(step)]);
      const different = differences(one, other);
      const shown = showing === undefined ? '' : `with ${showing}`;
      const what = [line, body === undefined ? '' : JSON.stringify(body), shown].filter(Boolean).join(' ');
      const isMeant = DELIBERATE.has(what);
      if (isMeant) meant.set(what, different.length > 0 || meant.get(what) === true);
      else if (different.length > 0) found.push([what, ...different].join('\n    '));
    }
    const settled = [...meant].filter(([what, isDifferent]) => !isDifferent && !IN_ANOTHER.has(what));
    return [...found, ...settled.map(([what]) => `${what}: no longer different`)];
  });
  if (wrong.length > 0) throw new Error(`${wrong.length} are different:\n${wrong.join('\n')}`);
}

export const client: Client = {
  title: 'OpenBao, asked the same',
  version,
  minutes: 10,
  install: installBao,
  secure: true,
  checks: Object.fromEntries(
    Object.entries(SUBJECTS).map(([what, subject]) => [
      `answers requests about ${what} like OpenBao`,
      (bench: Bench) => compared(bench, subject),
    ]),
  ),
};
