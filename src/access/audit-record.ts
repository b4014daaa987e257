/** What a server knows of one request when its record is written. Values are those of the wire. */
export interface AuditedRequest {
  /** The `request_id` of the answer. */
  readonly id: string;
  /** `read`, `create`, `update`, `delete` or `list`. */
  readonly operation: string;
  /** As in policies, e.g. `transit/encrypt/orders`. */
  readonly path: string;
  /** The transit mount, with its final slash, e.g. `transit/`; absent for `sys/` and the like. */
  readonly mountPoint?: string;
  /** The caller's address; empty on a Unix socket. */
  readonly remoteAddress: string;
  /** The token as it was sent, whether it is good or not. */
  readonly token?: string;
  /** Present once the token was found good. */
  readonly identity?: {
    readonly accessor: string;
    readonly displayName: string;
    readonly policies: readonly string[];
  };
  /** Body or query. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** How a request ended. */
export interface AuditedResponse {
  readonly status: number;
  /** The `data` object or the document of the answer. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The error text of the answer. */
  readonly error?: string;
}

/** Makes the lines of the audit trail. Each is one JSON object without the final newline, and holds no secret. */
export interface AuditRecorder {
  /** Written before an operation that changes something runs. */
  request(request: AuditedRequest): string;
  /** Written before the answer is sent; repeats the request. */
  response(request: AuditedRequest, response: AuditedResponse): string;
  /** `hmac-sha256:` and the keyed hash in hex of a value, to look for it in the trail. */
  hash(value: string): string;
}
