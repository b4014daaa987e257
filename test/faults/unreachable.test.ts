import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { locally, type Reply, send, startServer, type TestServer } from '../servers/serving.ts';
import { wrapFileSystem } from './layer/functions.ts';
import { arm, disarm, install } from './layer/layer.ts';
import type { Plan } from './layer/plan.ts';

/** What a disk, a mount or a network share may say to any question. */
const CODES = isLong ? ['EIO', 'EACCES', 'ESTALE', 'ENOTDIR'] : ['EIO'];
const PLAINTEXT = Buffer.from('attack at dawn').toString('base64');
/** One of each kind: without a token, looking, computing, changing; of both APIs. */
const REQUESTS = [
  ['GET', '/v1/sys/health'],
  ['GET', '/v1/sys/seal-status'],
  ['GET', '/v1/transit/keys/letters'],
  ['GET', '/v1/transit/keys/nothing'],
  ['LIST', '/v1/transit/keys'],
  ['POST', '/v1/transit/encrypt/letters', { plaintext: PLAINTEXT }],
  ['POST', '/v1/transit/encrypt/fresh', { plaintext: PLAINTEXT }],
  ['POST', '/v1/transit/keys/letters/rotate', {}],
  ['POST', '/v1/auth/token/create', { ttl: '1h' }],
  ['GET', '/api/v2/organizations/acme/tags'],
] as const;

/** Those that ask each kind of question to the disk. */
const STRUCK = REQUESTS.filter(([, path]) => /health|keys.letters|fresh|token/.test(path));

async function serveLetters(): Promise<TestServer> {
  const server = await startServer();
  await ask(server, ['POST', '/v1/transit/keys/letters', {}]);
  return server;
}

const ask = (server: TestServer, [method, path, body]: (typeof REQUESTS)[number] | Asked): Promise<Reply> =>
  send(server.address, method, path, { token: server.token, body });
type Asked = readonly [string, string, object];

/** A change by somebody else, so that what the server knows does not count any more. */
const turnElsewhere = ({ directory }: TestServer): Promise<unknown> =>
  locally(directory, ({ core }) =>
    core.store.transact((tx) => tx.put({ collection: 'test', id: 'any' }, { at: performance.now() })),
  );

describe('a server whose store is out of reach', () => {
  it.each<[what: string, replace: (directory: string) => void]>([
    ['is gone', () => undefined],
    ['is an empty directory', (directory) => mkdirSync(directory, { mode: 0o700 })],
    ['is a file', (directory) => writeFileSync(directory, '')],
    ['is a loop of links', (directory) => symlinkSync(directory, directory)],
    ['is a link that leads nowhere', (directory) => symlinkSync(join(directory, '..', 'nowhere'), directory)],
  ])(
    'answers everything with 503 while its directory %s, and goes on when it is back',
    async (_, replace) => {
      const server = await serveLetters();
      const { directory } = server;
      renameSync(directory, `${directory}.away`);
      replace(directory);
      for (const request of REQUESTS) {
        expect([request.join(' '), (await ask(server, request)).status]).toEqual([request.join(' '), 503]);
      }
      rmSync(directory, { recursive: true, force: true });
      renameSync(`${directory}.away`, directory);
      for (const request of REQUESTS) {
        const { status } = await ask(server, request);
        const isMissing = /nothing|acme/.test(request[1]);
        expect([request.join(' '), status]).toEqual([
          request.join(' '),
          isMissing ? 404 : status < 300 ? status : 200,
        ]);
      }
    },
  );

  it.each(CODES)(
    'answers with 503 what needs a file of which it hears %s, and nothing worse',
    async (code) => {
      const server = await serveLetters();
      install(wrapFileSystem);
      const seen = new Set<number>();
      const strike = async (watch: Plan['watch'], at: number): Promise<boolean> => {
        let reached = false;
        for (const request of STRUCK) {
          await turnElsewhere(server);
          const fault = { kind: 'failure', code, lasting: KINDS } as const;
          arm({ root: server.directory, watch, at, fault });
          const { status, text } = await ask(server, request);
          const { fired, calls } = disarm();
          reached ||= fired;
          if (!fired) continue;
          seen.add(status);
          const what = `${request.join(' ')}, at ${calls[at - 1]?.kind} ${calls[at - 1]?.path}: ${status} ${text}`;
          // What fails after a change was decided says that it is made.
          const isMade = status === 409 && text.includes('was made, but');
          expect(status === 503 || status < 300 || isMade, what).toBe(true);
        }
        return reached;
      };
      for (const watch of ['looks', 'changes'] as const) {
        for (let at = 1; await strike(watch, at); at++) expect(at).toBeLessThan(200);
      }
      expect(seen).toContain(503);
      expect((await ask(server, REQUESTS[0])).status).toBe(200);
      expect((await ask(server, REQUESTS[5])).status).toBe(200);
    },
  );
});

const KINDS = [
  ...(['open', 'read', 'stat', 'list', 'exists', 'create', 'reopen', 'write', 'sync'] as const),
  ...(['rename', 'link', 'unlink', 'rmdir', 'mkdir', 'truncate', 'attributes'] as const),
];
