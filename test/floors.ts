/** Rooms from the top down; a file may import from its own room and from rooms on a lower floor, never sideways. */
export const FLOORS: Readonly<Record<string, number>> = {
  'main.ts': 8,
  'library.ts': 8,
  cli: 7,
  doors: 6,
  client: 6,
  service: 5,
  operations: 4,
  team: 4,
  signatures: 3,
  transit: 3,
  tags: 3,
  access: 3,
  'secret-files': 3,
  'tag-files': 3,
  mounts: 2,
  store: 1,
  ground: 0,
};

/**
 * The folders of a room that has several, from the bottom up; those of one line lie on one floor. A file may import from its own folder and from
 * lower ones, never sideways. Files that lie loose in a room belong to all of its folders.
 */
export const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  cli: [
    ['terminal', 'topics', 'memory'],
    ['parse'],
    ['files', 'completions', 'signatures'],
    ['secrets', 'tags'],
    ['agent', 'repository', 'envelope', 'logins'],
    ['team'],
    ['secret-files'],
    ['processes'],
    ['editing'],
    ['commands'],
  ],
  doors: [['http'], ['agent']],
  operations: [['declaration'], ['auth', 'json-api', 'pipeline'], ['access'], ['tags'], ['transit'], ['sys']],
  transit: [['key-types'], ['certificates', 'envelope', 'key-exchange'], ['backup']],
  access: [
    ['login', 'x509'],
    ['methods', 'quotas'],
  ],
  store: [['backends'], ['slots'], ['sealed'], ['administration']],
};

/** Who alone may import what. */
export const RESERVED: readonly (readonly [libraries: readonly string[], allowed: readonly string[]])[] = [
  [['commander', 'chalk', 'cli-table3', '@inquirer/*'], ['cli']],
  [['lowdb', 'lowdb/*', 'node:sqlite'], ['store/backends/files']],
  [['bcryptjs'], ['access/methods/userpass']],
  [['bcrypt-pbkdf'], ['signatures']],
  [['pg'], ['store/backends/postgres']],
  [['shamir-secret-sharing'], ['store/slots']],
  [['yaml'], ['secret-files', 'tag-files']],
  [['jose'], ['access/methods/jwt']],
  [['@noble/*', '@noble/*/*'], ['transit/key-types']],
  [['@scure/*', '@scure/*/*', '@scure/*/*/*'], ['cli/secrets']],
  [['node:cluster'], ['service', 'doors/http']],
  [
    ['node:http', 'node:https', 'node:http2'],
    ['doors/http', 'doors/agent/grpc', 'client', 'access/login'],
  ],
];

/** The room of a path below src. */
export const roomOf = (path: string): string =>
  path.includes('/') ? path.slice(0, path.indexOf('/')) : path;

const floorOf = (path: string): number => {
  const floor = FLOORS[roomOf(path)];
  if (floor === undefined) throw new Error(`${path} is in no room`);
  return floor;
};

export const isBelow = (target: string, path: string): boolean => floorOf(target) < floorOf(path);

/** The folder of its room that a path below src lies in; undefined for a loose file. */
export function folderOf(path: string): string | undefined {
  const [room = '', folder, ...rest] = path.split('/');
  return rest.length > 0 && room in FLOORS ? folder : undefined;
}

/** Whether the folders of one room allow an import. @param path of the file that imports, below src, as `target` is. */
export function isWithinFolders(target: string, path: string): boolean {
  const [from, to] = [folderOf(path), folderOf(target)];
  const room = roomOf(path);
  if (room !== roomOf(target) || from === undefined || to === undefined || from === to) return true;
  const floor = (folder: string): number => FOLDERS[room]?.findIndex((names) => names.includes(folder)) ?? -1;
  return floor(to) < floor(from);
}

/** Whether a file may import a library, as far as somebody has it for himself. @param path below src. */
export const mayImport = (path: string, library: string): boolean =>
  RESERVED.every(
    ([libraries, allowed]) =>
      !libraries.some((pattern) => matches(pattern, library)) ||
      allowed.some((folder) => path.startsWith(`${folder}/`)),
  );

const matches = (pattern: string, library: string): boolean =>
  new RegExp(`^${pattern.replaceAll('*', '[^/]+')}$`).test(library);
