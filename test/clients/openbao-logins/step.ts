/*
 * Requests about logins, tokens and wrapping, in the order in which they are sent, to our server and to OpenBao alike. Words in braces stand for
 * what an answer before gave: each server is sent its own.
 */

/** One request, and what there is to know of its answers. */
export type Step = readonly [line: string, body?: unknown, more?: More];

interface More {
  /** The token that it is sent with: the root token as a rule, none for `''`. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the client's certificates, the one that its connection shows: none as a rule. */
  readonly showing?: string;
  /** What later steps call a member of the answer, named by its path. */
  readonly keep?: Readonly<Record<string, string>>;
}

export const WRAP = { 'x-vault-wrap-ttl': '60' };

/** The same request with several bodies. */
export const many = (line: string, bodies: readonly unknown[], more: More = {}): Step[] =>
  bodies.map((body) => [line, body, more]);

/** What the two are asked about. */
export interface Subject {
  readonly steps: readonly Step[];
  /** Methods that are there at the beginning, at their own names. */
  readonly enables?: readonly string[];
  /** What is in braces from the beginning. */
  readonly known?: Readonly<Record<string, string>>;
  /** What connections can show: the chain and the key, PEM. */
  readonly certificates?: Readonly<Record<string, ClientCertificate>>;
}

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}
