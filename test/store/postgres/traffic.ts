import type { Reply } from '../../servers/serving.ts';
import type { Asked as Server } from './fleet.ts';

const PLAINTEXT = Buffer.from('attack at dawn').toString('base64');

interface Asked {
  readonly kind: 'read' | 'write';
  /** Milliseconds of this process. */
  readonly from: number;
  readonly to: number;
  readonly status: number;
}

/** Callers who encrypt, look at keys and turn them, one request after the other, each for itself. */
export class Traffic {
  readonly #token: string;
  readonly #asked: Asked[] = [];
  readonly #working: Promise<void>[] = [];
  readonly #acknowledged = new Map<string, number>();
  #isDone = false;

  constructor(token: string) {
    this.#token = token;
  }

  /** So many who read, and so many who write, each with a key of its own. */
  send(member: Server, name: string, callers: number): void {
    for (let i = 0; i < callers; i++) {
      const key = `${name}-${i}`;
      this.#repeat('read', async (n) =>
        n % 2 === 0
          ? member.send('GET', `transit/keys/${key}`, undefined, this.#token)
          : member.send('POST', `transit/encrypt/${key}`, { plaintext: PLAINTEXT }, this.#token),
      );
      this.#repeat('write', async () => {
        const reply = await member.send('POST', `transit/keys/${key}/rotate`, {}, this.#token);
        if (reply?.status === 200) this.#acknowledged.set(key, this.acknowledged(key) + 1);
        return reply;
      });
    }
  }

  /** How often a key was turned, as callers were told. */
  acknowledged(key: string): number {
    return this.#acknowledged.get(key) ?? 0;
  }

  #repeat(kind: Asked['kind'], ask: (n: number) => Promise<Reply | undefined>): void {
    const work = async (): Promise<void> => {
      for (let n = 0; !this.#isDone; n++) {
        const from = performance.now();
        const reply = await ask(n);
        this.#asked.push({ kind, from, to: performance.now(), status: reply?.status ?? 0 });
        // Who is refused at once does not ask again at once.
        if (reply === undefined || reply.status >= 500)
          await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    this.#working.push(work());
  }

  async end(): Promise<void> {
    this.#isDone = true;
    await Promise.all(this.#working);
  }

  /** Requests that were answered after `moment`. */
  since(moment: number): Asked[] {
    return this.#asked.filter(({ to }) => to > moment);
  }

  /** Every status that anybody was answered. */
  get statuses(): number[] {
    return [...new Set(this.#asked.map(({ status }) => status))].sort();
  }

  /** When one who asked after `moment` had a good answer, in milliseconds from then; undefined if nobody had. */
  goodAfter(moment: number, kind: Asked['kind']): number | undefined {
    const good = this.#asked.filter((one) => one.kind === kind && one.from > moment && one.status < 300);
    return good.length === 0 ? undefined : Math.min(...good.map(({ to }) => to)) - moment;
  }

  /** The longest that anybody waited for an answer that came after `moment`, in milliseconds. */
  longestAfter(moment: number): number {
    return Math.max(0, ...this.since(moment).map(({ from, to }) => to - from));
  }
}
