import { describe, expect, it } from 'vitest';
import { Crowded, LoginTurns, type TurnOptions } from '../../../src/access/login/turns.ts';
import { turn } from '../../../src/ground/pause.ts';

/** Turns of which each runs until it is told to end. */
class Stage {
  readonly turns: LoginTurns;
  /** What runs now, in the order in which it began. */
  readonly running: string[] = [];
  /** All that began, in order. */
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  readonly #ends = new Map<string, () => void>();

  constructor(options: Partial<TurnOptions> = {}) {
    this.turns = new LoginTurns({ refusal: 'too many', atOnce: 1, most: 40, mostOfOne: 20, ...options });
  }

  ask(label: string, source: string, name = label): void {
    const run = () =>
      new Promise<void>((resolve) => {
        this.running.push(label);
        this.begun.push(label);
        this.#ends.set(label, () => {
          this.running.splice(this.running.indexOf(label), 1);
          resolve();
        });
      });
    this.turns.take({ source, name }, run).catch((error: unknown) => {
      if (!(error instanceof Crowded)) throw error;
      this.refused.push(label);
    });
  }

  askOften(count: number, source: string, name?: string): void {
    for (let i = 0; i < count; i++) this.ask(`${source}${i}`, source, name ?? `${source}${i}`);
  }

  /** Ends what runs, until that is `label`. @returns how many had to end before. */
  async until(label: string): Promise<number> {
    await turn();
    for (let ended = 0; ; ended++) {
      if (this.running.includes(label)) return ended;
      if (this.running.length === 0) throw new Error(`${label} never ran`);
      this.end(this.running[0]);
      await turn();
    }
  }

  end(label: string | undefined): void {
    this.#ends.get(label ?? '')?.();
  }
}

describe('turns for logins', () => {
  it('come to each source in turn, however many others one has asked for', async () => {
    const stage = new Stage();
    stage.askOften(19, 'stranger');
    stage.ask('good', 'home');
    expect(await stage.until('good')).toBeLessThanOrEqual(2);
  });

  it('come to a source that others come before as often as there are others, and no more often', async () => {
    const stage = new Stage();
    for (let round = 0; round < 5; round++)
      for (const one of ['a', 'b', 'c']) stage.ask(`${one}${round}`, one);
    stage.ask('good', 'home');
    expect(await stage.until('good')).toBeLessThanOrEqual(4);
  });

  it('come in the end to a source that is old among ever new ones', async () => {
    const stage = new Stage();
    stage.askOften(3, 'old');
    for (let i = 0; i < 12; i++) {
      await turn();
      stage.ask(`new${i}`, `new${i}`);
      stage.end(stage.running[0]);
    }
    await turn();
    expect(stage.begun).toEqual(expect.arrayContaining(['old0', 'old1', 'old2']));
  });

  it('are a hundred places for one source, and always some for one that has none', async () => {
    const stage = new Stage({ most: 400, mostOfOne: 100 });
    stage.askOften(110, 'stranger');
    stage.ask('good', 'home');
    await turn();
    expect(stage.refused).toHaveLength(10);
    expect(await stage.until('good')).toBeLessThanOrEqual(2);
  });

  it('have a place for whoever comes next, whatever a few sources ask for', async () => {
    for (const sources of [1, 4, 50, 300]) {
      const stage = new Stage({ most: 400, mostOfOne: 100 });
      for (let source = 0; source < sources; source++) stage.askOften(110, `s${source}-`);
      stage.ask('good', 'home');
      await turn();
      expect(stage.refused, `${sources} sources`).not.toContain('good');
    }
  });

  it('are taken one after the other in one name, and do not hold up other names', async () => {
    const stage = new Stage({ atOnce: 2 });
    stage.askOften(3, 'a', 'ann');
    stage.ask('bob', 'a');
    await turn();
    expect(stage.running).toEqual(['a0', 'bob']);
    stage.end('a0');
    await turn();
    expect(stage.running).toEqual(['bob', 'a1']);
  });

  it('come first to who has waited for a name, not to the source that has it all the time', async () => {
    const stage = new Stage({ atOnce: 2 });
    stage.askOften(15, 'stranger', 'ann');
    stage.ask('ann herself', 'home', 'ann');
    expect(await stage.until('ann herself')).toBeLessThanOrEqual(2);
  });

  it('rest after each, and are free for nobody meanwhile', async () => {
    const rests: (() => void)[] = [];
    const stage = new Stage({ rest: () => new Promise((resolve) => rests.push(resolve)) });
    stage.ask('first', 'a');
    stage.ask('second', 'b');
    await turn();
    stage.end('first');
    await turn();
    expect(stage.running).toEqual([]);
    rests[0]?.();
    await turn();
    expect(stage.running).toEqual(['second']);
  });

  it('go on after one that failed', async () => {
    const turns = new LoginTurns({ refusal: 'too many', atOnce: 1, most: 10, mostOfOne: 10 });
    const failing = turns.take({ source: 'a', name: 'n' }, () => Promise.reject(new Error('no')));
    const next = turns.take({ source: 'a', name: 'n' }, async () => 'yes');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
