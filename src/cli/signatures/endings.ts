/** Extensions of signature files, by format. */
export const ENDINGS = { ssh: '.sig', minisign: '.minisig' } as const;
