import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openRunner } from '../../src/cli/command-line.ts';
import { TokenFile } from '../../src/cli/logins/kept-token.ts';
import { keepRenewed } from '../../src/cli/logins/renewal.ts';
import { openLasting } from '../../src/cli/runner-lasting.ts';
import { Session } from '../../src/cli/session.ts';
import { CofferError, denied, sealed, unavailable, unconfirmed } from '../../src/ground/errors.ts';
import type { Outcome, Runner } from '../../src/operations/declaration/operation.ts';
import { promptsDouble, streamsDouble } from './streams.double.ts';

const KEY = { method: 'GET', path: 'transit/keys/app', parameters: {} } as const;

describe('a process that stays', () => {
  let directory: string;
  let server: Server;
  let address: string;
  /** The one token that the server takes. */
  let good = 'first';
  const asked: string[] = [];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'coffer-lasting-'));
    good = 'first';
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const isGood = Object.values(request.headers).some((value) => String(value).split(' ').at(-1) === good);
      response.writeHead(isGood ? 200 : 403, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isGood ? { data: { token: good } } : { errors: ['permission denied'] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bound = server.address();
    address = `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`;
  });

  afterEach(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const opened = (environment: Record<string, string>, options: Record<string, string> = {}) => {
    const everywhere = new Map(Object.entries({ address, ...options }));
    const own = { XDG_STATE_HOME: directory, HOME: directory, ...environment };
    return openLasting(new Session(streamsDouble(), own, everywhere, promptsDouble(), openRunner), address);
  };
  const keep = (token: string) =>
    TokenFile.required({ XDG_STATE_HOME: directory }, address).write({
      token,
      isOwn: true,
      again: 'coffer login',
    });

  it('takes the token of a new login, and that in a file that somebody renews', async () => {
    const file = join(directory, 'token');
    const write = (token: string) => writeFileSync(file, `${token}\n`, { mode: 0o600 });
    for (const [put, options] of [
      [keep, {}],
      [write, { 'token-file': file }],
    ] as const) {
      good = 'first';
      await put('first');
      const runner = await opened({}, options);
      expect((await runner.at(KEY)).data).toEqual({ token: 'first' });
      good = 'second';
      await expect(runner.at(KEY)).rejects.toMatchObject({ kind: 'denied' });
      await put('second');
      expect((await Promise.all([runner.at(KEY), runner.at(KEY)])).map(({ data }) => data)).toEqual([
        { token: 'second' },
        { token: 'second' },
      ]);
      runner.close();
    }
  });

  it('says of a stored token that it is no longer valid, not when it would have ended without renewals', async () => {
    const file = TokenFile.required({ XDG_STATE_HOME: directory }, address);
    await file.write({ token: 'other', isOwn: true, again: 'coffer login', expiresMs: 1 });
    const runner = await opened({});
    const hint = 'the stored token is no longer valid: run "coffer login"';
    await expect(runner.at(KEY)).rejects.toMatchObject({ kind: 'denied', hint });
    runner.close();
  });

  it('keeps to the token that it was given, and asks once', async () => {
    const runner = await opened({ COFFER_TOKEN: 'other' });
    await keep('first');
    asked.length = 0;
    await expect(runner.at(KEY)).rejects.toMatchObject({ kind: 'denied' });
    expect(asked.filter((line) => line.endsWith('/keys/app'))).toHaveLength(1);
    runner.close();
  });
});

describe('the token of a process that stays', () => {
  const asked: string[] = [];
  const answers: (() => Outcome<unknown>)[] = [];
  const runner: Pick<Runner, 'at'> = {
    async at({ method, path }) {
      asked.push(`${method} ${path}`);
      const answer = answers.shift();
      if (answer === undefined) throw denied('permission denied');
      return answer();
    },
  };
  const LOOK = 'GET auth/token/lookup-self';
  const RENEW = 'POST auth/token/renew-self';
  const tooMany = new CofferError('unavailable', 'request path rate limit quota exceeded');
  const away = (): never => {
    throw unavailable('the server is away');
  };
  const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);

  beforeEach(() => {
    asked.length = 0;
    answers.length = 0;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => void vi.useRealTimers());

  it('is renewed before it ends, also by a server that was away, until that refuses', async () => {
    const renewed = () => ({ auth: { lease_duration: 3600, renewable: true } });
    answers.push(away, () => ({ data: { ttl: 1800, renewable: true } }), renewed, away, renewed);
    const end = keepRenewed(runner);
    await minutes(0);
    expect(asked).toEqual([LOOK]);
    await minutes(1);
    expect(asked).toEqual([LOOK, LOOK]);
    await minutes(20);
    expect(asked).toEqual([LOOK, LOOK, RENEW]);
    await minutes(41);
    expect(asked).toEqual([LOOK, LOOK, RENEW, RENEW, RENEW]);
    await minutes(600);
    expect(asked).toEqual([LOOK, LOOK, RENEW, RENEW, RENEW, RENEW]);
    end();
  });

  it.each([
    ['has no end', { ttl: 0, renewable: true }],
    ['is not renewed', { ttl: 3600, renewable: false }],
    ['is at its end', { ttl: 0.9, renewable: true }],
  ])('is left alone where it %s', async (_, data) => {
    answers.push(() => ({ data }));
    const end = keepRenewed(runner);
    await minutes(600);
    expect(asked).toEqual([LOOK]);
    end();
  });

  it('is renewed if it ends in a second, the shortest time', async () => {
    answers.push(() => ({ data: { ttl: 1, renewable: true } }));
    const end = keepRenewed(runner);
    await minutes(1);
    expect(asked).toEqual([LOOK, RENEW]);
    end();
  });

  /** A server whose only token lives for `life` seconds after each renewal; it is away during `outage`, in seconds. */
  const serverWith = (life: number, outage: readonly [from: number, to: number], error: Error) => {
    const seconds = () => performance.now() / 1000;
    let endsAt = life;
    return {
      isAlive: () => seconds() < endsAt,
      async at({ path }: { readonly path: string }) {
        asked.push(path);
        const now = seconds();
        if (outage[0] <= now && now < outage[1]) throw error;
        if (now >= endsAt) throw denied('permission denied');
        if (path === 'auth/token/renew-self') endsAt = now + life;
        const ttl = Math.floor(endsAt - now);
        return { data: { ttl, renewable: true }, auth: { lease_duration: ttl, renewable: true } };
      },
    };
  };

  it.each(
    [10, 60, 150, 3600, 86_400].flatMap((life) => [
      [life, 'at the first renewal', (2 / 3) * life],
      [life, 'at the start', 0],
    ]) as [number, string, number][],
  )('of %d seconds outlasts an outage for a quarter of them %s', async (life, _, from) => {
    const errors = [unavailable('away'), sealed('the server is sealed'), unconfirmed('perhaps'), tooMany];
    for (const error of errors) {
      vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      const server = serverWith(life, [from, from + life / 4], error);
      const end = keepRenewed(server);
      await minutes((life * 4) / 60);
      expect(server.isAlive()).toBe(true);
      end();
      vi.useRealTimers();
    }
  });

  it('is asked for at most once a second, and once a minute where the outage is long', async () => {
    const end = keepRenewed(serverWith(86_400, [0, 86_400], unavailable('away')));
    await minutes(1 / 6);
    expect(asked.length).toBeLessThanOrEqual(11);
    await minutes(20);
    asked.length = 0;
    await minutes(60);
    expect(asked.length).toBeGreaterThanOrEqual(59);
    expect(asked.length).toBeLessThanOrEqual(61);
    end();
  });

  it('is left alone once the process has done with it', async () => {
    answers.push(() => ({ data: { ttl: 60, renewable: true } }));
    keepRenewed(runner)();
    await minutes(600);
    expect(asked).toEqual([LOOK]);
  });
});
