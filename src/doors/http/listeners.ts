import { existsSync } from 'node:fs';
import { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { placed, unavailable } from '../../ground/errors.ts';
import { makingPrivately } from '../../service/socket-file.ts';
import { HttpServer, type HttpServerOptions, type TlsCertificate } from './http-server.ts';
import { type ListenAddress, printAddress } from './listen-address.ts';

/** All listeners of one process. */
export class Listeners {
  readonly #servers: HttpServer[] = [];
  /** `http://127.0.0.1:8200`, `unix:/run/coffer.sock` and so on, once they listen. */
  readonly addresses: string[] = [];

  /** @throws `unavailable` naming the address that can't be had; none is listened on then. */
  static async open(
    listen: readonly ListenAddress[],
    tls: TlsCertificate | undefined,
    answer: HttpServerOptions['answer'],
  ): Promise<Listeners> {
    const listeners = new Listeners();
    try {
      for (const address of listen) await listeners.#add(address, tls, answer);
    } catch (error) {
      await listeners.close();
      throw error;
    }
    return listeners;
  }

  async #add(
    address: ListenAddress,
    tls: TlsCertificate | undefined,
    answer: HttpServerOptions['answer'],
  ): Promise<void> {
    const isSocket = 'socket' in address;
    const secure = tls !== undefined && !isSocket;
    const http = new HttpServer({
      maxRequestBytes: address.maxRequestBytes,
      answer,
      ...(secure ? { tls } : {}),
    });
    await listening(http, isSocket ? { path: address.socket } : { host: address.host, port: address.port });
    this.#servers.push(http);
    if (isSocket) {
      http.origin = 'http://localhost';
      this.addresses.push(`unix:${address.socket}`);
    } else {
      const { port } = http.server.address() as AddressInfo;
      http.origin = printAddress(address.host, port, secure);
      this.addresses.push(http.origin);
    }
  }

  /** Takes a new certificate for connections that come from now on. */
  renewCertificate(tls: TlsCertificate): void {
    for (const { server } of this.#servers) {
      if (server instanceof SecureServer) server.setSecureContext({ cert: tls.certificate, key: tls.key });
    }
  }

  /** Finishes the requests that have begun. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((http) => http.close()));
  }
}

async function listening(
  { server }: HttpServer,
  options: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // Node makes the socket before `listen` returns, so there is no moment in which others could connect to it.
  if ('path' in options) makingPrivately(() => server.listen(options, resolve));
  else server.listen(options, resolve);
  try {
    await promise;
  } catch (error) {
    const where = 'path' in options ? { file: options.path } : `${options.host}:${options.port}`;
    const path = 'path' in options ? options.path : undefined;
    throw unavailable(placed`cannot listen on ${where}: ${whyNot(error, path)}`, {
      field: path === undefined ? 'listen' : 'socket',
      cause: error,
    });
  }
  server.off('error', reject);
}

function whyNot(error: unknown, path: string | undefined): string {
  const { code } = error as NodeJS.ErrnoException;
  // Of a Unix socket Node says EACCES for a directory that is not there, too.
  const homeless = path !== undefined && !existsSync(dirname(path));
  if (homeless) return NO_DIRECTORY;
  if (path !== undefined && code === 'EINVAL') return TOO_LONG;
  return WHY[code ?? ''] ?? code ?? 'unknown reason';
}

const NO_DIRECTORY = 'no such directory';
const TOO_LONG = 'the path is too long for a socket';
const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
  ENOTFOUND: 'no such host',
  ENOENT: NO_DIRECTORY,
  ENOTDIR: 'part of the path is not a directory',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: TOO_LONG,
};
