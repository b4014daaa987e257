import { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { listening } from '../../service/listening.ts';
import { ConnectionPlaces } from './connection-places.ts';
import { HttpServer, type HttpServerOptions, secureContext, type TlsCertificate } from './http-server.ts';
import { type ListenAddress, printAddress } from './listen-address.ts';

/** Like `answer` of `HttpServerOptions`, with the listen address of the request. */
type AnswerThere = (
  exchange: Parameters<HttpServerOptions['answer']>[0],
  address: ListenAddress,
) => ReturnType<HttpServerOptions['answer']>;

/** All listeners of one process. */
export class Listeners {
  readonly #servers: HttpServer[] = [];
  readonly #connections = new ConnectionPlaces();
  /** `http://127.0.0.1:8200`, `unix:/run/coffer.sock` and so on, once they are listening. */
  readonly addresses: string[] = [];

  /**
   * Opens the listeners.
   * @throws `unavailable` naming the address that cannot be used; none is open then
   */
  static async open(
    listen: readonly ListenAddress[],
    tls: TlsCertificate | undefined,
    answer: AnswerThere,
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

  async #add(address: ListenAddress, tls: TlsCertificate | undefined, answer: AnswerThere): Promise<void> {
    const secure = tls !== undefined && 'host' in address;
    const http = new HttpServer({
      maxRequestBytes: address.maxRequestBytes,
      answer: (exchange) => answer(exchange, address),
      connections: this.#connections,
      tls: secure ? tls : undefined,
    });
    await listening(http.server, address);
    this.#servers.push(http);
    if ('host' in address) {
      const { port } = http.server.address() as AddressInfo;
      http.origin = printAddress(address.host, port, secure);
      this.addresses.push(http.origin);
    } else {
      http.origin = 'http://localhost';
      if ('socket' in address) this.addresses.push(`unix:${address.socket}`);
    }
  }

  /** Uses a new certificate for new connections. */
  renewCertificate(tls: TlsCertificate): void {
    for (const { server } of this.#servers) {
      if (server instanceof SecureServer) server.setSecureContext(secureContext(tls));
    }
  }

  /** Finishes requests in progress, and closes the listeners. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((http) => http.close()));
  }
}
