import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const FILE = fileURLToPath(new URL('durations.json', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

/** What takes less need not be known: the rest of the files are many, and fill what is left of the run. */
const LEAST_SECONDS = 2;

/** The seconds that test files took when it was last written down, by their paths from the root. */
export const durations = (): Readonly<Record<string, number>> =>
  JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>;

/** Writes down how long files took, in place of what was known of them. */
export function recordDurations(taken: Readonly<Record<string, number>>): void {
  const rounded = Object.entries({ ...durations(), ...taken })
    .map(([path, seconds]) => [path, Math.round(seconds)] as const)
    .filter(([, seconds]) => seconds >= LEAST_SECONDS)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rounded), undefined, 2)}\n`);
}

/**
 * The longest files first: begun last, one of them would run alone while the other cores wait. Files that share processes follow each
 * other behind all others, those of each project by themselves, since each change of kind starts a new process.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = durations();
    const sharing = ({ project }: TestSpecification): string => (project.config.isolate ? '' : project.name);
    const seconds = ({ moduleId }: TestSpecification): number =>
      known[moduleId.slice(join(root, '/').length)] ?? 0;
    return (await super.sort(files)).toSorted(
      (a, b) => sharing(a).localeCompare(sharing(b)) || seconds(b) - seconds(a),
    );
  }
}
