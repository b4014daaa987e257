/** How this program is started again: a single executable is the program, Node needs to be told the file. */
export function programAfterNode(): readonly string[] {
  const [, file] = process.argv;
  return process.getBuiltinModule('node:sea').isSea() || file === undefined ? [] : [file];
}
