/** What a server tells those who run it: one JSON object a line. Never a secret, never the body of a request. */
export class Log {
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  info(message: string, fields: object = {}): void {
    this.#line('info', message, fields);
  }

  warn(message: string, fields: object = {}): void {
    this.#line('warn', message, fields);
  }

  /** What somebody has to look at. */
  alarm(message: string, fields: object = {}): void {
    this.#line('error', message, fields);
  }

  /** An error that nobody foresaw. Only where it happened is told: its text may quote what it was working on. */
  defect(message: string, error: unknown): void {
    const known = error instanceof Error ? error : new Error(typeof error);
    const frames = (known.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
    const { code } = known as { code?: unknown };
    this.#line('error', message, {
      error: known.name,
      ...(typeof code === 'string' ? { code } : {}),
      stack: frames.map((line) => line.trim()),
    });
  }

  #line(level: string, message: string, fields: object): void {
    this.#write(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
  }
}
