import { fileURLToPath } from 'node:url';

/** The command as it is shipped; `run.ts` builds it before anything runs. */
export const binary = fileURLToPath(new URL('../../bin/coffer', import.meta.url));
