/** How the files of signatures end, by the names of their formats. */
export const ENDINGS = { ssh: '.sig', minisign: '.minisig' } as const;
