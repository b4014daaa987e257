/** Log of a server, for its operators: one JSON object per line. Never contains secrets or request bodies. */
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

  /** Logs an error that requires attention. */
  alarm(message: string, fields: object = {}): void {
    this.#line('error', message, fields);
  }

  /** Logs an internal error. Only its location is logged: its message may quote the data being processed. */
  defect(message: string, error: unknown): void {
    const known = error instanceof Error ? error : new Error(typeof error);
    const frames = (known.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
    const { code } = known as { code?: unknown };
    this.#line('error', message, {
      error: known.name,
      code: typeof code === 'string' ? code : undefined,
      stack: frames.map((line) => line.trim()),
    });
  }

  #line(level: string, message: string, fields: object): void {
    this.#write(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
  }
}
