import { asCofferError } from '../../ground/errors.ts';
import { DONE, exitCodeOf } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { errorLine } from '../terminal/report.ts';

/** While one file waits for the disk or the server, another one is worked on. */
const AT_ONCE = 4;

export interface Outcomes<R> {
  /** Of those that succeeded, in the order of the files. */
  readonly results: readonly R[];
  /** That of the first file that failed. */
  readonly exitCode: number;
}

/**
 * Does the same to every file, several at once. Of several, one that fails is told on standard error and does not keep the
 * others from being done; the error of a single one is thrown.
 * @param beforeMessage Called before anything is told.
 */
export async function forEachFile<F extends { readonly from: string | undefined }, R>(
  session: Session,
  files: readonly F[],
  work: (file: F) => Promise<R>,
  beforeMessage: () => void = () => {},
): Promise<Outcomes<R>> {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return { results: [await work(only)], exitCode: DONE };
  const outcomes = new Array<{ readonly result: R } | { readonly exitCode: number }>(files.length);
  const waiting = files.entries();
  const worker = async (): Promise<void> => {
    for (const [index, file] of waiting) {
      try {
        outcomes[index] = { result: await work(file) };
      } catch (error) {
        const known = asCofferError(error);
        if (known === undefined) throw error;
        beforeMessage();
        session.streams.err.write(`${errorLine(`${file.from}: ${known.message}`, undefined, known.hint)}\n`);
        outcomes[index] = { exitCode: exitCodeOf[known.kind] };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return {
    results: outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : [])),
    exitCode: outcomes.flatMap((outcome) => ('exitCode' in outcome ? [outcome.exitCode] : []))[0] ?? DONE,
  };
}
