/**
 * `npm run bench [-- NAME…]`: every benchmark, or the named ones, in one table. Needs `npm run package` for the start
 * of commands.
 */
import type { Row } from './measure.ts';

const suites: Readonly<Record<string, () => Promise<{ run(): Promise<readonly Row[]> }>>> = {
  start: () => import('./start.ts'),
  keyring: () => import('./keyring.ts'),
  operations: () => import('./operations.ts'),
  tags: () => import('./tags.ts'),
  tagged: () => import('./tagged.ts'),
  envelope: () => import('./envelope.ts'),
  signing: () => import('./signing.ts'),
  http: () => import('./http.ts'),
  tokens: () => import('./tokens.ts'),
  doors: () => import('./doors.ts'),
  postgres: () => import('./postgres.ts'),
  peers: () => import('./against-peers.ts'),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(suites, name));
if (unknown.length > 0) {
  process.stderr.write(
    `no benchmark called ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}\n`,
  );
  process.exit(2);
}

/** Formats a time; values that were not measured have no number. */
const milliseconds = (value: number): string =>
  Number.isNaN(value)
    ? '-'
    : value >= 10
      ? value.toFixed(1)
      : value >= 0.1
        ? value.toFixed(3)
        : value.toFixed(5);

const HEAD = ['operation', 'ours ms', 'floor ms', 'ratio', 'limit', 'floor', 'peer ms', 'ratio', 'peer'];
const WIDTHS = [44, 10, 10, 7, 7, 22, 10, 7, 0];
const LEFT = new Set([0, 5, 8]);
const line = (cells: readonly string[]): string =>
  cells
    .map((cell, i) => (LEFT.has(i) ? cell.padEnd(WIDTHS[i] ?? 0) : cell.padStart(WIDTHS[i] ?? 0)))
    .join('  ')
    .trimEnd();

const isOver = (ratio: number, limit = Number.POSITIVE_INFINITY): boolean => ratio > limit;
const shownLimit = (ratio: number, limit: number): string =>
  Number.isFinite(limit) ? `${isOver(ratio, limit) ? '! ' : ''}${limit}` : '-';
const cellsOf = ({ operation, ours, floor, ratio, limit, floorName, peer }: Row): string[] => [
  operation,
  milliseconds(ours),
  milliseconds(floor),
  Number.isNaN(ratio) ? '-' : ratio.toFixed(2),
  shownLimit(ratio, limit),
  floorName,
  ...(peer === undefined
    ? []
    : [
        milliseconds(peer.time),
        `${isOver(peer.ratio, peer.limit) ? '! ' : ''}${peer.ratio.toFixed(2)}`,
        peer.limit === undefined ? peer.name : `${peer.name} (limit ${peer.limit})`,
      ]),
];

process.stdout.write(`${line(HEAD)}\n`);
let missed = 0;
for (const [name, load] of Object.entries(suites)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const { run } = await load();
  for (const row of await run()) {
    if (isOver(row.ratio, row.limit) || isOver(row.peer?.ratio ?? 0, row.peer?.limit)) missed++;
    process.stdout.write(`${line(cellsOf(row))}\n`);
  }
}
process.stdout.write(
  missed === 0 ? '\nEvery ratio is within its limit.\n' : `\n${missed} over the limit (marked !).\n`,
);
