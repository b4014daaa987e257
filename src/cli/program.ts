/** Returns the arguments to start this program again: none for a single executable, the script for Node. */
export function programAfterNode(): readonly string[] {
  const [, file] = process.argv;
  return process.getBuiltinModule('node:sea').isSea() || file === undefined ? [] : [file];
}
