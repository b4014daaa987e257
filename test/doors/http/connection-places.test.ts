import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { type Connection, ConnectionPlaces } from '../../../src/doors/http/connection-places.ts';
import { HttpServer } from '../../../src/doors/http/http-server.ts';
import { TrustedProxies } from '../../../src/doors/http/trusted-proxies.ts';

/** A connection that is there as long as nobody hangs up. */
class FakeConnection implements Connection {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number;
  readonly localAddress = '10.0.0.100';
  readonly localPort = 8200;
  isThere = true;
  #onClose: () => void = () => undefined;

  constructor(remoteAddress: string | undefined, remotePort: number) {
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  once(_event: 'close', listener: () => void): void {
    this.#onClose = listener;
  }

  destroy(): void {
    this.isThere = false;
    this.#onClose();
  }
}

class Stage {
  readonly places: ConnectionPlaces;
  #port = 1000;

  constructor(most: number, mostOfOne: number) {
    this.places = new ConnectionPlaces({ most, mostOfOne });
  }

  come(address?: string): FakeConnection {
    this.#port += 1;
    const connection = new FakeConnection(address, this.#port);
    this.places.met(connection);
    return connection;
  }

  comeOften(count: number, address: string): readonly FakeConnection[] {
    return Array.from({ length: count }, () => this.come(address));
  }
}

const there = (connections: readonly FakeConnection[]): number =>
  connections.filter(({ isThere }) => isThere).length;

describe('the connections of a source', () => {
  it('are no more than its bound: what nobody used for the longest time makes way', () => {
    const stage = new Stage(100, 4);
    const [oldest, second, ...others] = stage.comeOften(4, '10.0.0.1');
    if (oldest !== undefined) stage.places.asked(oldest)();
    const next = stage.come('10.0.0.1');
    expect([oldest?.isThere, second?.isThere, there(others), next.isThere]).toEqual([true, false, 2, true]);
  });

  it('are not cut while one of their requests is answered, and then no more are taken', () => {
    const stage = new Stage(100, 3);
    const busy = stage.comeOften(3, '10.0.0.1');
    const done = busy.map((connection) => stage.places.asked(connection));
    expect(stage.come('10.0.0.1').isThere).toBe(false);
    expect(there(busy)).toBe(3);
    expect(stage.come('10.0.0.2').isThere).toBe(true);
    done[1]?.();
    expect(stage.come('10.0.0.1').isThere).toBe(true);
    expect(busy.map(({ isThere }) => isThere)).toEqual([true, false, true]);
  });

  it('are looked for once, and not with each request, behind an encryption as well', () => {
    const stage = new Stage(100, 2);
    const connection = stage.come('2001:db8::1');
    const { remotePort, localAddress, localPort } = connection;
    let looks = 0;
    const ends = {
      remotePort,
      localAddress,
      localPort,
      get remoteAddress() {
        looks += 1;
        return '2001:db8::1';
      },
    };
    const [first, ...others] = [1, 2, 3, 4, 5].map(() => stage.places.asked(ends));
    const seen = looks;
    expect(others.every((answered) => answered === first)).toBe(true);
    stage.places.asked(ends);
    expect(looks).toBe(seen);
    expect(seen).toBeLessThan(5);
  });

  it('are those of a network of IPv6, and a Unix socket has no bound', () => {
    const stage = new Stage(100, 2);
    const connections = ['2001:db8::1', '2001:db8::2', '2001:db8::3'].map((address) => stage.come(address));
    expect(there(connections)).toBe(2);
    const owners = Array.from({ length: 10 }, () => stage.come());
    expect(there(owners)).toBe(10);
  });

  it('leave a place for whoever comes next, however many sources have as many as they may', () => {
    const stage = new Stage(100, 50);
    const strangers = Array.from({ length: 40 }, (_, index) => stage.comeOften(50, `10.0.0.${index}`));
    expect(there(strangers.flat())).toBe(100);
    const good = stage.comeOften(2, '10.1.0.1');
    expect(there(good)).toBe(2);
    expect(there(strangers.flat())).toBe(98);
  });

  it('are told apart though one has come with the ends of another that is closed after it', () => {
    const places = new ConnectionPlaces({ most: 100, mostOfOne: 2 });
    const [former, next] = [new FakeConnection('10.0.0.1', 1), new FakeConnection('10.0.0.1', 1)];
    for (const connection of [former, next]) places.met(connection);
    former.destroy();
    const { remoteAddress, remotePort, localAddress, localPort } = next;
    // The socket of an encryption over it.
    places.asked({ remoteAddress, remotePort, localAddress, localPort });
    const others = [new FakeConnection('10.0.0.1', 2), new FakeConnection('10.0.0.1', 3)];
    for (const connection of others) places.met(connection);
    expect([next.isThere, ...others.map(({ isThere }) => isThere)]).toEqual([true, false, true]);
  });

  it('are most of all if the source is a trusted proxy, which leaves room for others', () => {
    const places = new ConnectionPlaces({ most: 8, mostOfOne: 2 }, new TrustedProxies(['10.0.0.1']));
    const come = (address: string, port: number): FakeConnection => {
      const connection = new FakeConnection(address, port);
      places.met(connection);
      return connection;
    };
    const ofProxy = Array.from({ length: 8 }, (_, index) => come('10.0.0.1', index));
    expect(there(ofProxy)).toBe(6);
    for (const connection of ofProxy) places.asked(connection);
    const next = come('10.0.0.1', 9);
    expect([next.isThere, there(ofProxy)]).toEqual([false, 6]);
    const others = [come('10.0.0.2', 1), come('10.0.0.2', 2), come('10.0.0.2', 3)];
    expect([there(others), there(ofProxy)]).toEqual([2, 6]);
  });

  it('give their places back when they are closed', () => {
    const stage = new Stage(4, 2);
    for (let i = 0; i < 10; i++) for (const one of stage.comeOften(2, '10.0.0.1')) one.destroy();
    expect(there(stage.comeOften(2, '10.0.0.1'))).toBe(2);
    expect(there(stage.comeOften(2, '10.0.0.2'))).toBe(2);
  });
});

describe('a server', () => {
  it('answers whoever comes beside a stranger who keeps all the connections that one may have', async () => {
    const http = new HttpServer({
      maxRequestBytes: 1000,
      answer: async () => ({ status: 200, contentType: 'text/plain', body: 'done' }),
      connections: new ConnectionPlaces({ most: 8, mostOfOne: 4 }),
    });
    await new Promise<void>((resolve) => http.server.listen(0, '127.0.0.1', resolve));
    const { port } = http.server.address() as AddressInfo;
    const open = async (localAddress: string): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      return socket;
    };
    const idle: Socket[] = [];
    for (let i = 0; i < 12; i++) idle.push(await open('127.0.0.1'));
    await vi.waitUntil(() => idle.filter(({ closed }) => closed).length === 8, { timeout: 60_000 });
    for (const localAddress of ['127.0.0.2', '127.0.0.1']) {
      const socket = await open(localAddress);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /);
      socket.destroy();
    }
    for (const socket of idle) socket.destroy();
    await http.close();
  });
});
