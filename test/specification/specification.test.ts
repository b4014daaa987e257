import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { local, type Place } from '../e2e/harness.ts';
import { cleanUpAfterAll, startServer } from '../servers/serving.ts';
import { CHAPTERS, printPage } from './chapters.ts';
import { CommandSide, HttpSide, type Side } from './sides.ts';

const clean = cleanUpAfterAll();
const sides = new Map<Side['way'], Side>();
let stop: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  sides.set('HTTP', new HttpSide(await startServer({}, clean)));
  const started: { place: Place; stop(): Promise<void> } = await local.start();
  ({ stop } = started);
  sides.set('command', new CommandSide(started.place));
});
afterAll(() => stop());

const sideOf = (way: Side['way']): Side => sides.get(way) ?? expect.fail(`no ${way}`);

describe.each(CHAPTERS)('the specification under "$title"', ({ rows }) => {
  const ways = (['HTTP', 'command'] as const).filter((way) => rows.some(({ only = way }) => only === way));
  describe.each(ways)('asked by %s', (way) => {
    const asked = rows
      .filter(({ only = way }) => only === way)
      .map(({ text, check }) => [text, check] as const);
    it.each(asked)('has it that %s', async (_text, check) => {
      await check(sideOf(way));
    });
  });
});

describe('the page about the specifications', () => {
  it('has every row, and no other', () => {
    const path = fileURLToPath(new URL('../../docs/specification.md', import.meta.url));
    expect(readFileSync(path, 'utf8'), 'npm run generate writes it').toBe(printPage());
  });

  it('counts at least 412 rows and 672 checks', () => {
    const rows = CHAPTERS.flatMap((chapter) => chapter.rows);
    expect(rows.length).toBeGreaterThanOrEqual(412);
    expect(rows.reduce((sum, { only }) => sum + (only === undefined ? 2 : 1), 0)).toBeGreaterThanOrEqual(672);
  });
});
