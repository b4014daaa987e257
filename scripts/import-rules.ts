import { FLOORS, isBelow, RESERVED, roomOf } from '../test/floors.ts';

/**
 * The linter's configuration with the rules of who may import what in it, so that an editor says so while one types.
 * @param configuration the text of `biome.json`.
 */
export function withImportRules(configuration: string): string {
  const rooms = Object.keys(FLOORS).filter((room) => !room.endsWith('.ts'));
  const places = new Set([...rooms, ...RESERVED.flatMap(([, folders]) => folders)]);
  const { overrides: _before, ...rest } = JSON.parse(configuration) as Record<string, unknown>;
  const overrides = [...places].sort().map(overrideOf);
  return `${JSON.stringify({ ...rest, overrides }, undefined, 2)}\n`;
}

/** Of two overrides that fit a file the later one counts; a folder stands behind its room. */
function overrideOf(place: string): object {
  const path = `${place}/any.ts`;
  const closed = Object.keys(FLOORS).filter((room) => room !== roomOf(path) && !isBelow(asFile(room), path));
  const folders = closed.filter((room) => !room.endsWith('.ts'));
  const files = closed.filter((room) => room.endsWith('.ts'));
  const libraries = RESERVED.filter(
    ([, allowed]) => !allowed.some((folder) => path.startsWith(`${folder}/`)),
  ).flatMap(([names]) => names);
  const patterns = [
    {
      group: [...folders.map((room) => `**/${room}/**`), ...files.map((file) => `**/${file}`)],
      message: 'Imports go downwards only, never up and never sideways between rooms of one floor.',
    },
    {
      group: libraries,
      message: 'Only the room that this library is for may import it.',
    },
  ];
  return {
    includes: [`src/${place}/**`],
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options: { patterns } } } } },
  };
}

const asFile = (room: string): string => (room.endsWith('.ts') ? room : `${room}/any.ts`);
