import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  type Reply,
  selfSigned,
  send,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';
import { signingKey } from '../../../servers/signing-key.ts';
import { loginResources } from './provider-logins.ts';
import { resources as otherResources } from './provider-requests.ts';
import type { Asked, Member, Written } from './provider-resource.ts';

/*
 * What is taken is given back, or it is refused: Terraform compares what it wrote with what it reads, and who sets something relies on it.
 */

const published: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(new URL('../../../vectors/terraform-provider-vault.json', import.meta.url), 'utf8'),
);

let server: TestServer;
const afterwards = cleanUpAfterAll();
const written: Readonly<Record<string, Written>> = {
  ...otherResources,
  ...loginResources({
    publicKey: signingKey('RS256').publicPem,
    authority: selfSigned(temporaryDirectory(afterwards)).pem,
  }),
};
beforeAll(async () => {
  server = await startServer({}, afterwards);
  await done({ line: 'POST sys/auth/approle', body: { type: 'approle' } });
});

function ask({ line, body }: Asked): Promise<Reply> {
  const [method = '', path = ''] = line.split(' ');
  return send(server.address, method, `/v1/${path}`, {
    headers: { 'x-vault-token': server.token, 'x-vault-request': 'true' },
    body,
  });
}

/** What must succeed, with nothing of it dropped. */
async function done(asked: Asked): Promise<Reply> {
  const answer = await ask(asked);
  const { status, json } = answer;
  const notes = (json?.warnings ?? []).filter((text: string) => text.includes('unrecognized'));
  expect([status < 300, json?.errors, notes]).toEqual([true, undefined, []]);
  return answer;
}

type Tree = Readonly<Record<string, unknown>>;

function withMember(body: Tree, name: string, value: unknown): Tree {
  const [first = '', ...rest] = name.split('.');
  if (rest.length === 0) return { ...body, [first]: value };
  return { ...body, [first]: withMember((body[first] as Tree | undefined) ?? {}, rest.join('.'), value) };
}

const memberOf = (body: unknown, name: string): unknown =>
  name.split('.').reduce<unknown>((at, member) => (at as Tree | null | undefined)?.[member], body);

const sorted = (value: unknown): unknown => (Array.isArray(value) ? [...value].sort() : value);

let count = 0;
const resources = Object.entries(written).map(([title, resource]) => {
  const { before, write, read, members } = resource;
  /** Sets members of a new one. */
  async function set(values: Tree): Promise<{ readonly name: string; readonly answer: Reply }> {
    count += 1;
    const name = title.startsWith('vault_audit') ? 'X-Own' : `m${count}`;
    for (const asked of before?.(name) ?? []) await done(asked);
    const { line, body } = write(name);
    const whole = Object.entries(values).reduce<Tree>(
      (tree, [at, value]) => withMember(tree, at, value),
      body,
    );
    return { name, answer: await ask({ line, body: whole }) };
  }
  const told = Object.entries(members).filter(([, member]) => !('elsewhere' in member));
  return { title, read, told, set };
});

/** What asks for nothing, by the kind of a value. */
function nothingLike(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (typeof value === 'object') return {};
  if (typeof value === 'number') return 0;
  return typeof value === 'boolean' ? false : '';
}

const kept = ({ status, json }: Reply) => [status < 300, json?.errors ?? []];
const valuesOf = (name: string, member: Member): { readonly sent: string; readonly value: unknown } => ({
  sent: ('sent' in member ? member.sent : undefined) ?? name,
  value: 'given' in member ? member.given : 'refused' in member ? member.refused : undefined,
});

describe.each(resources.filter(({ told }) => told.length > 0))('of $title', ({ read, told, set }) => {
  it.each(told)('the member %s is given back, or refused where it can not be had', async (name, member) => {
    const { sent, value } = valuesOf(name, member);
    if ('refused' in member) {
      const { answer } = await set({ [sent]: value });
      expect([answer.status, answer.json.errors.length]).toEqual([400, 1]);
      return;
    }
    if (!('given' in member)) throw new Error('it is sent nowhere');
    const { name: made, answer } = await set({ ...member.beside, [sent]: value });
    expect(kept(answer)).toEqual([true, []]);
    const { json } = await done(read(made, answer.json ?? {}));
    const shown = memberOf(json.data, member.shown ?? sent);
    expect(sorted(shown)).toEqual(sorted(member.as ?? value));
  });

  const nothings = told.flatMap(([name, member]) => {
    const { sent, value } = valuesOf(name, member);
    return 'mustBe' in member || 'beside' in member ? [] : [[sent, nothingLike(value)] as const];
  });

  if (nothings.length === 0) return;
  it('all members may ask for nothing, at once', async () => {
    const { answer } = await set(Object.fromEntries(nothings));
    expect(kept(answer)).toEqual([true, []]);
    expect(answer.json?.warnings ?? []).not.toContainEqual(expect.stringContaining('unrecognized'));
  });
});

describe('the schema of Terraform’s provider', () => {
  it.each(Object.entries(published))('has no member of %s that is not tried here', (resource, members) => {
    const tried = Object.keys(written[resource]?.members ?? {});
    expect(Object.keys(members).filter((name) => !tried.includes(name))).toEqual([]);
  });
});
