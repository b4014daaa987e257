import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { seeded } from '../seeded.ts';
import {
  cleanUpAfterAll,
  MASTER_KEY,
  type Reply,
  send,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../servers/serving.ts';
import { intoDocuments } from '../store/temporary-store.ts';

/** In the name of every directory that has anything of the server in it. */
const SECRET = 'known-to-nobody';

const clean = cleanUpAfterAll();
let template = '';
let token = '';

beforeAll(async () => {
  const server = await startServer({}, clean);
  template = server.directory;
  ({ token } = server);
  await send(server.address, 'POST', '/v1/transit/keys/orders', { token });
  await send(server.address, 'POST', '/api/v2/organizations', {
    token,
    body: { data: { type: 'organizations', attributes: { name: 'acme', email: 'a@example.com' } } },
  });
  // Something in the documents, and something in the log.
  await intoDocuments(template);
  await send(server.address, 'POST', '/v1/transit/keys/later', { token });
});

/** A server over a copy of the store, with everything in directories of a name that would be recognised. */
async function serveCopy(options: object = {}): Promise<TestServer> {
  const parent = join(temporaryDirectory(), SECRET);
  const directory = join(parent, 'store');
  mkdirSync(parent);
  cpSync(template, directory, { recursive: true });
  return startServer({ location: directory, auditFile: join(parent, 'audit.log'), ...options });
}

const REQUESTS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/v1/transit/encrypt/orders', { plaintext: 'aGVsbG8=' }],
  ['POST', '/v1/transit/encrypt/orders', { batch_input: [{ plaintext: 'aGVsbG8=' }, { plaintext: '' }] }],
  ['GET', '/v1/transit/keys/orders'],
  ['GET', '/v1/transit/keys?list=true'],
  ['POST', '/v1/transit/keys/more', {}],
  ['POST', '/v1/transit/keys/orders/rotate', {}],
  ['GET', '/v1/auth/token/lookup-self'],
  ['GET', '/v1/sys/mounts'],
  ['GET', '/v1/sys/health'],
  ['GET', '/v1/sys/seal-status'],
  ['GET', '/v1/sys/metrics'],
  ['GET', '/api/v2/organizations'],
  ['GET', '/api/v2/organizations/acme/tags'],
  ['POST', '/api/v2/organizations', { data: { type: 'organizations', attributes: { name: 'more' } } }],
  ['POST', '/v1/sys/unseal', { key: MASTER_KEY }],
  ['POST', '/v1/sys/seal', {}],
  ['POST', '/v1/sys/unseal', { key: MASTER_KEY }],
  ['POST', '/v1/transit/encrypt/orders', { plaintext: 'aGVsbG8=' }],
];

/** What callers read, by a client that may have details and by one that may not. */
async function answersOf(address: string): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (const [method, path, body] of REQUESTS) {
    replies.push(await send(address, method, path, { token, body, headers: { 'x-coffer-details': '1' } }));
    replies.push(await send(address, method, path, { body }));
  }
  return replies;
}

const documents = (directory: string): readonly string[] => filesIn(directory, 'generation-1', 'documents');
const slots = (directory: string): readonly string[] => filesIn(directory, 'generation-1', 'slots');
const logFiles = (directory: string): readonly string[] => filesIn(directory, 'log');
const filesIn = (...parts: readonly string[]): readonly string[] =>
  readdirSync(join(...parts)).map((name) => join(...parts, name));
const stateFile = (directory: string): string => filesIn(directory, 'state')[0] ?? '';

const each = (files: (directory: string) => readonly string[], harm: (file: string) => void) => {
  return (directory: string): void => files(directory).forEach(harm);
};
const overwrite = (file: string): void => writeFileSync(file, 'damaged');
const remove = (file: string): void => rmSync(file, { recursive: true });
const becomeDirectory = (file: string): void => {
  remove(file);
  mkdirSync(file);
};
const becomeLoop = (file: string): void => {
  remove(file);
  symlinkSync(file, file);
};
const openToAll = (file: string): void => chmodSync(file, 0o666);
const giveAway = (file: string): void => chownSync(file, 65_534, 65_534);

const one = (name: string) => (directory: string) => [join(directory, name)];

const BROKEN: readonly (readonly [how: string, harm: (directory: string) => void])[] = [
  ['damaged documents', each(documents, overwrite)],
  ['no documents', each(documents, remove)],
  ['directories in the place of documents', each(documents, becomeDirectory)],
  ['links in the place of documents', each(documents, becomeLoop)],
  ['documents that all may write', each(documents, openToAll)],
  ['damaged slots', each(slots, overwrite)],
  ['no slots', each(slots, remove)],
  ['slots that all may write', each(slots, openToAll)],
  ['a damaged header', each(one('coffer.json'), overwrite)],
  ['no header', each(one('coffer.json'), remove)],
  ['a directory for a header', each(one('coffer.json'), becomeDirectory)],
  ['a damaged lock', each(one('lock'), overwrite)],
  ['a directory for a lock', each(one('lock'), becomeDirectory)],
  ['no state', each(one('state'), remove)],
  ['a file for a state', each(one('state'), (file) => [remove(file), overwrite(file)])],
  ['a damaged log', each(logFiles, overwrite)],
  ['no log', each(one('log'), remove)],
  ['a log that all may write', each(logFiles, openToAll)],
  ['no generation', each(one('generation-1'), remove)],
  ['a generation that all may write', each(one('generation-1'), (file) => chmodSync(file, 0o777))],
  ['a directory that all may write', each(one('.'), (file) => chmodSync(file, 0o777))],
  ['no directory', each(one('.'), (file) => renameSync(file, `${file}.moved`))],
  ['an audit log that is a directory', each(one('../audit.log'), becomeDirectory)],
  [
    'an unfinished change that is damaged',
    (directory) => {
      const state = stateFile(directory);
      renameSync(state, state.replace(/log-(?=[^/]*$)/, 'dirty-'));
      mkdirSync(join(directory, 'state', 'commit'));
      overwrite(join(directory, 'state', 'commit', 'journal'));
    },
  ],
  ...(process.geteuid?.() === 0
    ? [
        ['documents of somebody else', each(documents, giveAway)] as const,
        ['a directory of somebody else', each(one('.'), giveAway)] as const,
      ]
    : []),
];

describe('a server whose store has', () => {
  it.each(BROKEN)('%s tells nobody where it is', async (_, harm) => {
    // That of a server which has read the store, and of one that has not: `npm test` tries one of them.
    const both = [false, true];
    for (const isFresh of isLong ? both : [seeded().pick(both)]) {
      const server = await serveCopy(isFresh ? { credentials: [] } : {});
      if (!isFresh) await send(server.address, 'GET', '/v1/transit/keys/orders', { token });
      harm(server.directory);
      const replies = await answersOf(server.address);
      for (const { text, headers } of replies) {
        expect(text + JSON.stringify(headers)).not.toContain(SECRET);
      }
      expect(replies.filter(({ status }) => status >= 400).length).toBeGreaterThan(0);
    }
  });

  it('damaged slots tells nobody where it is through any of its processes', async () => {
    const server = await serveCopy({ workers: 2, credentials: [] });
    each(slots, openToAll)(server.directory);
    const replies = await answersOf(server.address);
    for (const { text } of replies) expect(text).not.toContain(SECRET);
    const seen = replies.filter(({ status }) => status >= 500).map(({ text }) => text);
    expect(seen.join()).toMatch(/generation-1\/slots\/[0-9a-f]+\.json can be written by other users/);
  });
});
