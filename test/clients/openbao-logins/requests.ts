import { cert, clients } from './cert-requests.ts';
import { jwt, jwtTokens } from './jwt-requests.ts';
import { approle, methods, userpass } from './method-requests.ts';
import type { Subject } from './step.ts';
import { tokenRoles, tokens, wrapping } from './token-requests.ts';

export const SUBJECTS = {
  'login methods': async () => ({ steps: methods }),
  tokens: async () => ({ steps: tokens }),
  'token roles': async () => ({ steps: tokenRoles }),
  AppRole: async () => ({ steps: approle, enables: ['approle'] }),
  userpass: async () => ({ steps: userpass }),
  wrapping: async () => ({ steps: wrapping, enables: ['approle'] }),
  JWT: async () => ({ steps: jwt, enables: ['jwt'], known: await jwtTokens() }),
  'client certificates': async () => ({ steps: cert, enables: ['cert'], ...clients() }),
} as const satisfies Readonly<Record<string, () => Promise<Subject>>>;
