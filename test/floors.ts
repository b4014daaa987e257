/** Rooms from the top down; a file may import from its own room and from rooms on a lower floor, never sideways. */
export const FLOORS: Readonly<Record<string, number>> = {
  'main.ts': 5,
  'library.ts': 5,
  cli: 4,
  http: 3,
  client: 3,
  operations: 2,
  transit: 1,
  tags: 1,
  access: 1,
  store: 0,
};
const GROUND_FLOOR = -1;

/** Who alone may import what. */
export const RESERVED: readonly (readonly [pattern: RegExp, allowed: readonly string[]])[] = [
  [/^(commander|chalk|cli-table3|@inquirer\/.*)$/, ['cli/']],
  [/^lowdb/, ['store/backends/']],
  [/^(node:https?|node:http2|fastify)$/, ['http/', 'client/']],
];

/** The room of a path below src. */
export const roomOf = (path: string): string =>
  path.includes('/') ? path.slice(0, path.indexOf('/')) : path;

const floorOf = (path: string): number => FLOORS[roomOf(path)] ?? GROUND_FLOOR;

/** The files of the ground floor are one room: errors, bytes, and the ports to clock and randomness. */
export const isBelow = (target: string, path: string): boolean =>
  floorOf(target) < floorOf(path) || floorOf(target) === GROUND_FLOOR;
