/**
 * `npm run bench [-- NAME…]`: every benchmark, or those named, in one table. Needs `npm run package` for the commands' start.
 */
import type { Row } from './measure.ts';

const suites: Readonly<Record<string, () => Promise<{ run(): Promise<readonly Row[]> }>>> = {
  start: () => import('./start.ts'),
  operations: () => import('./operations.ts'),
  tags: () => import('./tags.ts'),
  envelope: () => import('./envelope.ts'),
  http: () => import('./http.ts'),
  postgres: () => import('./postgres.ts'),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(suites, name));
if (unknown.length > 0) {
  process.stderr.write(
    `no benchmark called ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}\n`,
  );
  process.exit(2);
}

const milliseconds = (value: number): string =>
  value >= 10 ? value.toFixed(1) : value >= 0.1 ? value.toFixed(3) : value.toFixed(5);

const HEAD = ['operation', 'ours ms', 'floor ms', 'ratio', 'limit', 'floor'];
const WIDTHS = [44, 10, 10, 7, 8, 0];
const line = (cells: readonly string[]): string =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[i] ?? 0) : cell.padStart(WIDTHS[i] ?? 0))).join('  ');

process.stdout.write(`${line(HEAD)}\n`);
let missed = 0;
for (const [name, load] of Object.entries(suites)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const { run } = await load();
  for (const row of await run()) {
    const over = row.ratio > row.limit;
    if (over) missed++;
    process.stdout.write(
      `${line([
        row.operation,
        milliseconds(row.ours),
        milliseconds(row.floor),
        row.ratio.toFixed(2),
        `${over ? '! ' : ''}${row.limit}`,
        row.floorName,
      ])}\n`,
    );
  }
}
process.stdout.write(
  missed === 0 ? '\nEvery ratio is within its limit.\n' : `\n${missed} over the limit (marked !).\n`,
);
