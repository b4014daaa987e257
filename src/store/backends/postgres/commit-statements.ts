import type { Blob, Change } from '../backend.ts';
import { bytea } from './blob-rows.ts';

/**
 * Statements that commit: parameters 1 to 3 are the generation, revision and id of the commit before, 4 and 5 the new revision and
 * id. They answer with one row, or with none when the store isn't at that commit any more; then they change nothing.
 */
export interface CommitStatements {
  /** Puts one blob: area, name, bytes. */
  readonly writeOne: string;
  /** Puts and deletes any number: what `columnsOf` makes of them. */
  readonly change: string;
}

export function commitStatements(schema: string): CommitStatements {
  const fence = `fence AS (
    UPDATE ${schema}.store SET revision = $4, commit = $5
    WHERE ready AND generation = $1 AND revision = $2 AND commit = $3 RETURNING revision
  )`;
  const replacing = 'ON CONFLICT (generation, area, name) DO UPDATE SET bytes = excluded.bytes';
  return {
    writeOne: `WITH ${fence}
      INSERT INTO ${schema}.blob (generation, area, name, bytes)
      SELECT $1, $6::text, $7::text, $8::bytea FROM fence ${replacing} RETURNING true`,
    change: `WITH ${fence}, removed AS (
        DELETE FROM ${schema}.blob b USING unnest($9::text[], $10::text[]) AS r (area, name)
        WHERE b.generation = $1 AND b.area = r.area AND b.name = r.name AND EXISTS (SELECT FROM fence)
      ), written AS (
        INSERT INTO ${schema}.blob (generation, area, name, bytes)
        SELECT $1, w.area, w.name, w.bytes FROM unnest($6::text[], $7::text[], $8::bytea[]) AS w (area, name, bytes)
        WHERE EXISTS (SELECT FROM fence) ${replacing}
      ) SELECT true FROM fence`,
  };
}

/** Areas, names and contents of what is put, areas and names of what is deleted. */
export const columnsOf = (written: readonly Blob[], removed: readonly Change[]): unknown[] => [
  written.map(({ ref }) => ref.area),
  written.map(({ ref }) => ref.name),
  written.map(({ bytes }) => bytea(bytes)),
  removed.map(({ ref }) => ref.area),
  removed.map(({ ref }) => ref.name),
];
