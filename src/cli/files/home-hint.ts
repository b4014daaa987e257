/** Path of the home directory, as shells have it. */
const HOME = /^~(?=\/|$)/;

/**
 * Returns the hint for a path with a `~` that the shell left as it is, because it was in quotes, after `=`, or in a
 * file of variables; undefined for any other path.
 */
export const homeHint = (path: string): string | undefined =>
  HOME.test(path)
    ? `the shell does not expand ~ in quotes or after =: use "${path.replace(HOME, '$HOME')}", or ./${path} for a directory named ~`
    : undefined;
