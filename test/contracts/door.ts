import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Method } from '../../src/operations/declaration/route.ts';
import { ACMES_ADDRESS, ADAS_POLICY, type DoorWorld, doorWorld } from './door-world.ts';

/** A request in the words of no protocol. */
export interface DoorRequest {
  readonly method: Method;
  /** Below the prefix of the API, as the protocol writes it on the way. */
  readonly path: string;
  readonly token?: string;
  /** As the protocol writes it. */
  readonly body?: string;
  /** The body is announced and never sent: who is refused must be told so without it. */
  readonly isHeldBack?: true;
}

/**
 * What a protocol says, in the words of none: `refused` is whatever gives nothing, be it forbidden, unknown or not there; `invalid`
 * is a mistake of the caller; `failed` is one of ours.
 */
export type DoorOutcome = 'done' | 'refused' | 'invalid' | 'sealed' | 'failed';

export interface DoorAnswer {
  readonly outcome: DoorOutcome;
  /** All that was answered. */
  readonly text: string;
}

export interface DoorClient {
  ask(request: DoorRequest): Promise<DoorAnswer>;
  close(): Promise<void>;
}

/** A door, and a client of it that knows its protocol. */
export interface ContractDoor {
  /** Whose paths the protocol has. */
  readonly api: 'vault' | 'json-api';
  /** Whoever has a token comes in, or nobody but the owner, who needs none. */
  readonly callers: 'bearers' | 'owner';
  /** How the protocol writes characters of a path that have another meaning in it. */
  readonly escapes: 'percent' | 'none';
  open(world: DoorWorld): Promise<DoorClient>;
}

/** What is asked for in the paths of one API. */
interface Requests {
  /** A policy allows it. */
  readonly allowed: DoorRequest;
  readonly recordedPath: string;
  /** Each names the one thing that a policy denies. */
  readonly denied: readonly DoorRequest[];
  /** These might be taken to. */
  readonly perhaps: readonly DoorRequest[];
  /** What no answer to them may hold. */
  readonly secrets: readonly string[];
  /** Changes what a policy allows, and one of the things that it denies. */
  readonly change: DoorRequest;
  readonly deniedChange: DoorRequest;
  readonly malformed: readonly string[];
  /** With escapes that stand for no text. */
  readonly undecodable: readonly DoorRequest[];
}

const get = (path: string): DoorRequest => ({ method: 'GET', path });
const post = (path: string, body: object): DoorRequest => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
});

const VAULT: Requests = {
  allowed: get('auth/userpass/users/bob'),
  recordedPath: 'auth/userpass/users/bob',
  denied: [
    'auth/userpass/users/ada',
    'auth/userpass/users/ADA',
    'auth/userpass/users/Ada',
    'sys/policies/acl/hidden',
    'sys/policies/acl/HIDDEN',
    'transit/keys/vital',
  ].map(get),
  perhaps: [
    'auth/userpass/users/ada/',
    'auth/userpass/users//ada',
    'auth/userpass//users/ada',
    '/auth/userpass/users/ada',
    'auth/userpass/users/./ada',
    'auth/userpass/users/bob/../ada',
    'auth/userpass/users/%61da',
    'auth/userpass/users/%41DA',
    'auth/userpass/users%2Fada',
    'auth/userpass%2fusers%2fADA',
    'auth%2Fuserpass/users/ada',
    'auth/userpass/users/ada%20',
    'AUTH/userpass/users/ada',
    'sys/policies/acl/%20hidden',
    'transit/keys/vital/',
    'transit/keys%2Fvital',
  ].map(get),
  secrets: [ADAS_POLICY, 'latest_version'],
  change: post('transit/keys/made', { type: 'ed25519' }),
  deniedChange: post('sys/policies/acl/Hidden', { policy: '' }),
  malformed: ['{"type": "ed', '[1, 2]', '"text"', '{"type": {}}'],
  undecodable: [
    'auth/userpass/users/%zz',
    'auth/userpass/users/bob%',
    'auth/userpass/users/%ff',
    'auth/userpass/users/%e2%82',
    'transit%2/keys/vital',
    'nowhere/%c0%af',
  ].map(get),
};

const workspace = (name: string): object => ({ data: { type: 'workspaces', attributes: { name } } });

const documents = (workspaceId: string): Requests => ({
  allowed: get('organizations/other'),
  recordedPath: 'api/v2/organizations/other',
  denied: [
    'organizations/acme',
    'organizations/%61cme',
    'organizations/acme/workspaces/hidden',
    `workspaces/${workspaceId}`,
    'organizations/other/tags/secret',
    'organizations/other/tags/SECRET',
    'organizations/other/tags/%53ecret',
  ].map(get),
  perhaps: [
    'organizations/acme/',
    'organizations//acme',
    'organizations%2Facme',
    'organizations/other/../acme',
    'organizations/ACME',
    'organizations/other%2Ftags%2Fsecret',
    'organizations/other/tags/secret/',
    `workspaces/${workspaceId}/`,
    `workspaces/%77${workspaceId.slice(1)}`,
  ].map(get),
  secrets: [ACMES_ADDRESS, '"name":"hidden"', '"name":"secret"'],
  change: post('organizations/other/workspaces', workspace('made')),
  deniedChange: post('organizations/acme/workspaces', workspace('made')),
  malformed: [
    '{"data": {',
    '[1, 2]',
    '"text"',
    '{"data": {"type": "workspaces", "attributes": {"name": {}}}}',
  ],
  undecodable: [
    'organizations/%zz',
    'organizations/other%',
    'organizations/%ff/tags',
    'organizations/other/tags/%e2%82',
    `workspaces%2/${workspaceId}`,
    'nowhere/%c0%af',
  ].map(get),
});

/**
 * What every door must do, whatever its protocol; the test of each door hands in a client of it.
 * @see docs/contributing.md
 */
export function describeDoor(name: string, door: ContractDoor): void {
  const isForBearers = door.callers === 'bearers';
  let world: DoorWorld;
  let client: DoorClient;
  let requests: Requests;

  const as = (token: string, request: DoorRequest): DoorRequest =>
    isForBearers ? { ...request, token } : request;
  const narrow = (request: DoorRequest): DoorRequest => as(world.narrow.token, request);
  const answered = (records: ReturnType<DoorWorld['newRecords']>) =>
    records.filter(({ type }) => type === 'response');

  describe(`${name} as a door`, () => {
    beforeAll(async () => {
      world = await doorWorld();
      requests = door.api === 'vault' ? VAULT : documents(await hiddenWorkspace(world));
      client = await door.open(world);
    });

    afterAll(async () => {
      await client.close();
      world.remove();
    });

    it('gives what is asked for, and has recorded by then who got it', async () => {
      world.newRecords();
      const { outcome } = await client.ask(narrow(requests.allowed));
      expect(outcome).toBe('done');
      const records = world.newRecords();
      expect(records.map(({ type, response }) => [type, response?.status])).toEqual([['response', 200]]);
      expect(records[0]?.request).toMatchObject({ operation: 'read', path: requests.recordedPath });
      if (isForBearers) expect(records[0]?.auth.client_token).toMatch(/^hmac-sha256:/);
    });

    it('records a change before it is made, and again when it is answered', async () => {
      world.newRecords();
      expect((await client.ask(narrow(requests.change))).outcome).toBe('done');
      const records = world.newRecords();
      expect(records.map(({ type }) => type)).toEqual(['request', 'response']);
      expect(new Set(records.map(({ request: { path } }) => path)).size).toBe(1);
    });

    it('answers parameters that it can not read as a mistake of the caller, and records that', async () => {
      for (const body of requests.malformed) {
        world.newRecords();
        const answer = await client.ask(narrow({ ...requests.change, body }));
        expect([body, answer.outcome]).toEqual([body, 'invalid']);
        const [record] = answered(world.newRecords());
        expect(record?.response?.status).toBeGreaterThanOrEqual(400);
        expect(record?.response?.status).toBeLessThan(500);
      }
      expect(world.defects()).toEqual([]);
    });

    it.runIf(door.escapes === 'percent')(
      'answers a path whose escapes stand for no text as a mistake of the caller, of whatever method',
      async () => {
        for (const request of requests.undecodable) {
          for (const asked of [request, { ...requests.change, path: request.path }]) {
            const { outcome, text } = await client.ask(narrow(asked));
            expect([asked.path, asked.method, outcome]).toEqual([asked.path, asked.method, 'invalid']);
            for (const secret of requests.secrets) expect(text).not.toContain(secret);
          }
        }
        expect(world.defects()).toEqual([]);
      },
    );

    it('says of everything that the store is sealed, while it is', async () => {
      const sealed = await door.open(world.sealed());
      try {
        for (const request of [requests.allowed, requests.change, ...requests.denied]) {
          const answer = await sealed.ask(narrow(request));
          expect([request.path, answer.outcome]).toEqual([request.path, 'sealed']);
        }
      } finally {
        await sealed.close();
      }
      expect(world.defects()).toEqual([]);
    });

    if (isForBearers) describeForBearers();
  });

  function describeForBearers(): void {
    it('lets the one who may do everything have each thing that a policy denies', async () => {
      for (const request of requests.denied) {
        const { outcome, text } = await client.ask(as(world.root, request));
        const shows = requests.secrets.some((secret) => text.includes(secret));
        expect([request.path, outcome, shows]).toEqual([request.path, 'done', true]);
      }
    });

    it('refuses what a policy denies in each of its spellings, and records the refusal', async () => {
      for (const request of requests.denied) {
        world.newRecords();
        const { outcome, text } = await client.ask(narrow(request));
        expect([request.path, outcome]).toEqual([request.path, 'refused']);
        for (const secret of requests.secrets) expect(text).not.toContain(secret);
        const statuses = answered(world.newRecords()).map(({ response }) => response?.status);
        expect([request.path, statuses]).toEqual([request.path, [door.api === 'vault' ? 403 : 404]]);
      }
    });

    it('gives nothing of it to whoever writes its path in some other way', async () => {
      for (const request of requests.perhaps) {
        const { outcome, text } = await client.ask(narrow(request));
        expect([request.path, ['refused', 'invalid'].includes(outcome)]).toEqual([request.path, true]);
        for (const secret of requests.secrets) expect(text).not.toContain(secret);
      }
    });

    it('refuses a change that a policy denies before it reads what was sent', async () => {
      world.newRecords();
      const { outcome } = await client.ask(narrow({ ...requests.deniedChange, isHeldBack: true }));
      expect(outcome).toBe('refused');
      expect(answered(world.newRecords())).toHaveLength(1);
    });

    it.each([
      ['without a token', undefined],
      ['with a token that never was', 'cfr.never'],
    ])('refuses a caller %s before it reads what was sent', async (_, token) => {
      for (const request of [requests.allowed, requests.change]) {
        world.newRecords();
        const isHeldBack = request.body === undefined ? {} : { isHeldBack: true as const };
        const asked = { ...request, ...isHeldBack };
        const { outcome } = await client.ask(token === undefined ? asked : { ...asked, token });
        expect([request.path, outcome]).toEqual([request.path, 'refused']);
        expect(answered(world.newRecords())).toHaveLength(1);
      }
    });

    it('refuses a token at once that was revoked beside it', async () => {
      const { auth } = await world.owner((owner) => owner.run('token create', { policies: ['narrow'] }));
      const { client_token: token, accessor } = auth as { client_token: string; accessor: string };
      expect((await client.ask(as(token, requests.allowed))).outcome).toBe('done');
      await world.owner((owner) =>
        owner.at({ method: 'POST', path: 'auth/token/revoke-accessor', parameters: { accessor } }),
      );
      expect((await client.ask(as(token, requests.allowed))).outcome).toBe('refused');
    });

    it.runIf(door.api === 'vault')(
      'lets a caller log in who has no token, and records the login without the password',
      async () => {
        world.newRecords();
        const login = (password: string) => client.ask(post('auth/userpass/login/BOB', { password }));
        expect((await login('open sesame')).outcome).toBe('done');
        const [record] = answered(world.newRecords());
        expect(record?.request).toMatchObject({
          path: 'auth/userpass/login/BOB',
          mount_point: 'auth/userpass/',
        });
        expect(JSON.stringify(record)).not.toContain('open sesame');
        expect((await login('something else')).outcome).toBe('invalid');
        expect(answered(world.newRecords())).toHaveLength(1);
      },
    );
  }
}

async function hiddenWorkspace(world: DoorWorld): Promise<string> {
  const { data } = await world.owner((owner) => owner.run('workspaces list', { organization_name: 'acme' }));
  const [found] = (data as { readonly data: readonly { readonly id: string }[] }).data;
  if (found === undefined) throw new Error('there is no workspace');
  return found.id;
}
