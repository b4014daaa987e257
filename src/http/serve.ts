import type { Dialect } from '../transit/mounts.ts';

export interface ServeOptions {
  /** `HOST:PORT`, `[IPV6]:PORT`; port 0 takes a free one. `?max-request-size=BYTES` sets that listener's own limit. */
  readonly listen: readonly string[];
  /** A Unix socket to listen on as well, made with mode 0600. */
  readonly socket?: string;
  /** PEM files; all TCP listeners then speak TLS. */
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string };
  /** Allows plain HTTP on an address that others on the network reach. */
  readonly allowInsecureListen?: boolean;
  /** How many processes answer; default 1, which is this one. */
  readonly workers?: number;
  /** Largest body in bytes; default 32 MiB. */
  readonly maxRequestBytes?: number;
  readonly dialect?: Dialect;
  /** A file that gets one JSON line for every request, before it is answered. */
  readonly auditFile?: string;
  /** The command line that starts a further process, which calls `serveAsWorker`. */
  readonly workerCommand: { readonly file: string; readonly args: readonly string[] };
  /** Takes one line of JSON, without a newline. */
  readonly log: (line: string) => void;
}

/** A running server. */
export interface Serving {
  /** Where it listens: `http://127.0.0.1:8200`, `unix:/run/coffer.sock`. */
  readonly addresses: readonly string[];
  /** Stops taking requests, finishes those in flight, and resolves when all is closed. */
  close(): Promise<void>;
}
