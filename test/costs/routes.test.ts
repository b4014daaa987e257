import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/doors/http/exchange.ts';
import { heldBody } from '../../src/doors/http/incoming-body.ts';
import { LOGIN_METHODS } from '../../src/operations/mount-types.ts';
import type { Chance } from '../chance.ts';
import { valueFor } from '../fuzz/request-values.ts';
import { Secrets } from '../fuzz/secrets.ts';
import { openServedWorld, type ServedWorld } from '../fuzz/served-world.ts';
import { isDaily, isLong, isSlow, ofDay } from '../long.ts';
import { processorMs, processorMsUntil } from '../processor-time.ts';
import { seeded } from '../seeded.ts';
import { issueToken, ownersCall } from '../servers/owner.ts';
import { hurtfulTexts } from './hurtful.ts';
import { type Asked, type Way, waysBeside, waysTo } from './route-requests.ts';

/** Above what a short one costs. */
const MOST_MS = 5;
const SLOW_MACHINE = 3;
const LENGTH = 16 * 1024;
const SHORT = 64;
/** A compiler or a collection of garbage that falls into a request is not its cost: what it costs, it costs again. */
const LOOKS = 8;
/** What costs the square is 16 times as dear at four times the length. What is dear by itself, as a batch is, needs more than that. */
const MOST_TIMES_AS_DEAR = 8;
const FREE_MS = 25;
/** Texts that each parameter is sent, one after the other, beside all that is no text. */
const TEXTS = isSlow ? 24 : isLong ? ofDay(8) : 2;
/** Of the ways to send something, one in so many is tried where not all are; of those that get as far as the work itself, fewer. */
const ONE_IN = isDaily ? 2 : isLong ? 1 : 24;
const ONE_IN_WORK = isDaily ? 3 : isLong ? 2 : 160;
/** What leaves less for the requests after it. */
const RUINOUS = /^(?:mounts\.remove|token\.revoke.*|orgs\.delete|transit\.keys\.delete)$/;

/** A way to send something, and the cost of what came of it. */
type Look = (cost: (length: number) => Promise<number>) => Promise<string | undefined>;

/** The token of who asks. */
type Caller = () => Promise<string | undefined>;

interface Search {
  readonly look: Look;
  readonly oneIn: number;
  readonly leftOut?: RegExp;
}

class Routes {
  readonly #world: ServedWorld;
  readonly #chance: Chance;
  readonly #texts = hurtfulTexts();
  /** How many requests were answered how. */
  readonly answered = new Map<number, number>();

  private constructor(world: ServedWorld, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
  }

  /** A server in this process, with a mount of every login method, and something below each. */
  static async open(): Promise<Routes> {
    const routes = new Routes(await openServedWorld(new Secrets()), seeded());
    for (const type of LOGIN_METHODS) await routes.asOwner(`sys/auth/${type}`, { type });
    await routes.asOwner('auth/approle/role/app', {});
    await routes.asOwner('auth/userpass/users/app', { password: 'x' });
    const jwtRole = { role_type: 'jwt', bound_subject: 'x', user_claim: 'sub' };
    await routes.asOwner('auth/jwt/role/app', jwtRole);
    return routes;
  }

  async asOwner(path: string, body: object): Promise<void> {
    const asked = { method: 'POST', target: `/v1/${path}`, contentType: 'application/json' };
    const { status } = await this.#answer(
      { ...asked, body: JSON.stringify(body) },
      this.#world.content.tokens.root,
    );
    expect(status, path).toBe(204);
  }

  /** A token that may do everything, whatever was done to the one before. */
  async root(): Promise<string> {
    await this.#world.keepRoot();
    return this.#world.content.tokens.root;
  }

  async default(): Promise<string> {
    return (await issueToken(ownersCall(this.#world.store), { policies: ['default'] })).token;
  }

  /** What is dear, of every parameter of every route. @param token who asks, at each route anew. */
  async dear(token: Caller, { look, oneIn, leftOut }: Search): Promise<readonly string[]> {
    const dear: string[] = [];
    for (const served of this.#world.routes) {
      if (leftOut?.test(served.name)) continue;
      const as = await token();
      for (const way of this.#waysOf(served, oneIn)) {
        const cost = async (length: number): Promise<number> => {
          const asked = way.request(length);
          let status = 0;
          const ms = await processorMsUntil(async () => {
            ({ status } = await this.#answer(asked, as));
          });
          this.answered.set(status, (this.answered.get(status) ?? 0) + 1);
          if (status >= 500 && !asked.target.startsWith('/v1/sys/health'))
            dear.push(`${status} at ${served.name}`);
          return ms;
        };
        const found = await look(cost);
        if (found !== undefined) dear.push(`${served.name}, ${served.route.method}: ${way.what}: ${found}`);
      }
    }
    return dear;
  }

  close(): Promise<void> {
    return this.#world.close();
  }

  #waysOf(served: ServedWorld['routes'][number], oneIn: number): readonly Way[] {
    const params = Object.entries(served.operation.params);
    const raw = () =>
      Object.fromEntries(
        params
          .filter(([, { presence }]) => presence === 'required' || this.#chance.oneIn(3))
          .map(([name, param]) => [name, valueFor(this.#chance, this.#world.content, name, param, false)]),
      );
    const texts = () => Array.from({ length: TEXTS }, () => this.#chance.pick(this.#texts));
    const ways = [
      ...params.flatMap(([name]) => waysTo(served, name, raw(), texts())),
      ...waysBeside(served, raw(), texts()),
    ];
    return ways.filter(() => this.#chance.oneIn(oneIn));
  }

  #answer({ body, contentType, ...asked }: Asked, token: string | undefined) {
    const exchange: Exchange = {
      ...asked,
      headers: { 'content-type': contentType, 'x-service-token': token },
      body: heldBody(body === undefined ? undefined : Buffer.from(body)),
      remoteAddress: '127.0.0.1',
      origin: 'http://127.0.0.1:8200',
    };
    return this.#world.apis.take(exchange).answer();
  }
}

async function leastOf(cost: () => Promise<number>, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < LOOKS && least > enough; at++) least = Math.min(least, await cost());
  return least;
}

/**
 * Whether the whole length costs so many times as much as a fourth of it. Both are looked at in turn, the shorter one as often as fills as much
 * time: in a slow moment of the machine, all looks at one of them would be dearer.
 */
async function growsFast(cost: (length: number) => Promise<number>): Promise<boolean> {
  let [long, quarter] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let at = 0; at < LOOKS; at++) {
    long = Math.min(long, await cost(LENGTH));
    for (let more = 0; more < 4; more++) quarter = Math.min(quarter, await cost(LENGTH / 4));
  }
  return long > MOST_TIMES_AS_DEAR * Math.max(quarter, 1);
}

/**
 * What costs more than a short one and some. On a machine that is slow at the moment, what is in proportion to its length may take twice
 * as much; then it has to be seen to grow faster as well.
 */
const aboveShort: Look = async (cost) => {
  const long = await leastOf(() => cost(LENGTH), MOST_MS);
  if (long <= MOST_MS) return undefined;
  const short = await leastOf(() => cost(SHORT), 0);
  if (long - short <= MOST_MS) return undefined;
  return long - short > SLOW_MACHINE * MOST_MS || (await growsFast(cost))
    ? `${long.toFixed(1)} ms, and ${short.toFixed(1)} where it is short`
    : undefined;
};

/** What costs more than in proportion. */
const aboveProportion: Look = async (cost) => {
  const long = await leastOf(() => cost(LENGTH), FREE_MS);
  if (long <= FREE_MS) return undefined;
  return (await growsFast(cost))
    ? `${long.toFixed(1)} ms, and far less at a fourth of the length`
    : undefined;
};

async function dearFor(callerOf: (routes: Routes) => Promise<Caller>, search: Search) {
  const routes = await Routes.open();
  const dear = await routes.dear(await callerOf(routes), search);
  await routes.close();
  const all = [...routes.answered.values()].reduce((sum, count) => sum + count, 0);
  process.stderr.write(`${all} requests made to hurt, answered ${JSON.stringify([...routes.answered])}\n`);
  return dear;
}

const REFUSED: Search = { look: aboveShort, oneIn: ONE_IN };

describe('whatever a parameter of a request is, on any route,', () => {
  it('16 KiB of it cost at most 5 ms more than a short one for somebody without a token', async () => {
    expect(await dearFor(async () => async () => undefined, REFUSED)).toEqual([]);
  }, 600_000);

  it('16 KiB of it cost at most 5 ms more than a short one with a token of the policy default', async () => {
    // It may revoke itself.
    expect(await dearFor(async (routes) => () => routes.default(), REFUSED)).toEqual([]);
  }, 600_000);

  it('16 KiB of it cost at most 5 ms more than a short one for who has used up a limit of one request', async () => {
    const used = async (routes: Routes): Promise<Caller> => {
      const token = await routes.default();
      await routes.asOwner('sys/quotas/rate-limit/all', { rate: 1, interval: '24h' });
      return async () => token;
    };
    expect(await dearFor(used, REFUSED)).toEqual([]);
  }, 600_000);

  it('costs in proportion to its length with a token that may do everything', async () => {
    const search = { look: aboveProportion, oneIn: ONE_IN_WORK, leftOut: RUINOUS };
    expect(await dearFor(async (routes) => () => routes.root(), search)).toEqual([]);
  }, 600_000);

  it('is seen to take too long where it is the square of its length', async () => {
    const costOf = (share: number) => async (length: number) => {
      const text = `${'/'.repeat(share * length)}a`;
      return processorMs(() => text.replace(/\/+$/, ''));
    };
    // A part of it takes long enough to be seen.
    expect(await aboveShort(costOf(0.5))).toBeDefined();
    expect(await aboveProportion(costOf(0.75))).toBeDefined();
  });
});
