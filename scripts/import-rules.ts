import { FLOORS, isBelow, RESERVED, roomOf } from '../test/floors.ts';

/**
 * Returns the linter's configuration with the rules about allowed imports, so that editors show violations at once.
 * @param configuration text of `biome.json`
 */
export function withImportRules(configuration: string): string {
  const rooms = Object.keys(FLOORS).filter((room) => !room.endsWith('.ts'));
  const places = new Set([...rooms, ...RESERVED.flatMap(([, folders]) => folders)]);
  const { overrides: _before, ...rest } = JSON.parse(configuration) as Record<string, unknown>;
  const overrides = [...places].sort().map(overrideOf);
  return `${JSON.stringify({ ...rest, overrides }, undefined, 2)}\n`;
}

/**
 * Returns the override of a folder. Of two overrides that match a file, the later one applies, so a folder comes after
 * its parent.
 */
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
