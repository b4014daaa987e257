import { describe, it } from 'vitest';
import { type BackendCase, Bench } from './backend/bench.ts';
import { contentCases } from './backend/content-cases.ts';
import { placeCases } from './backend/place-cases.ts';
import { processCases } from './backend/process-cases.ts';
import { sessionCases } from './backend/session-cases.ts';
import { type BackendSubject, whyNot } from './backend/subject.ts';

/** All cases of the backend contract. */
export const backendCases: readonly BackendCase[] = [
  ...contentCases,
  ...sessionCases,
  ...processCases,
  ...placeCases,
];

/** Tests a backend for the contract. Cases that it cannot be tested for are skipped, with the reason in the title. */
export function describeBackend(name: string, subject: BackendSubject): void {
  describe(`${name} as a store backend`, () => {
    for (const each of backendCases) {
      const reason = whyNot(subject, each.needs);
      const title = reason === undefined ? each.title : `${each.title} (left out: ${reason})`;
      it.skipIf(reason !== undefined)(title, () => Bench.run(subject, each));
    }
  });
}
