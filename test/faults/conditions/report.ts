/** What a process under other conditions says of one fault: one line of JSON on standard output. */
export interface Observation {
  readonly what: string;
  /** What was not as promised; undefined when all was. */
  readonly problem?: string;
}

/** Runs a check and says how it went. */
export async function observe(what: string, check: () => Promise<void> | void): Promise<void> {
  let observation: Observation = { what };
  try {
    await check();
  } catch (error) {
    observation = { what, problem: error instanceof Error ? error.message : String(error) };
  }
  process.stdout.write(`${JSON.stringify(observation)}\n`);
}
