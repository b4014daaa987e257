import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Certificates, type Certified } from './certificates.ts';
import { Cluster } from './cluster.ts';
import { failure, initWithKey, read, write } from './document.ts';
import { whyNoDatabase } from './installed.ts';

const missing = whyNoDatabase();
const SCHEMA = 'encrypted';

/** `admin` may come as it likes, `clerk` with TLS only, `bearer` with a certificate of its own. */
const RULES = `local all all trust
hostssl all bearer 127.0.0.1/32 cert
hostssl all clerk 127.0.0.1/32 scram-sha-256
host all admin 127.0.0.1/32 scram-sha-256
`;

describe.skipIf(missing !== undefined)(
  `a database with a certificate${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let cluster: Cluster;
    let directory: string;
    let authority: Certified;
    let stranger: Certified;
    let bearer: Certified;

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'coffer-certificates-'));
      // Nobody's own certificates count here.
      vi.stubEnv('HOME', directory);
      const certificates = new Certificates(directory);
      authority = certificates.authority('authority');
      stranger = certificates.authority('stranger');
      bearer = certificates.issue(authority, 'bearer');
      const server = certificates.issue(authority, 'server', [
        'IP:127.0.0.1',
        'IP:0.0.0.0',
        'DNS:db.example',
      ]);
      cluster = await Cluster.create();
      await cluster.query("CREATE ROLE clerk LOGIN PASSWORD 'clerk'; CREATE ROLE bearer LOGIN");
      await cluster.restart(
        {
          'server.crt': server.certificate,
          'server.key': server.key,
          'root.crt': authority.certificate,
          'pg_hba.conf': RULES,
        },
        { ssl: 'on', ssl_ca_file: 'root.crt' },
      );
      await initWithKey(cluster.location(SCHEMA));
      await write(cluster.location(SCHEMA), 1);
      for (const role of ['clerk', 'bearer']) {
        await cluster.query(`GRANT USAGE ON SCHEMA ${SCHEMA} TO ${role};
          GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${SCHEMA} TO ${role}`);
      }
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await cluster.remove();
      rmSync(directory, { recursive: true, force: true });
    });

    const location = (more: string, user = 'clerk', host = '127.0.0.1'): string =>
      cluster.location(SCHEMA, { user, password: user, more: `&${more}` }).replace('@127.0.0.1', `@${host}`);
    const refused = (reason: string, user = 'clerk', host = '127.0.0.1'): string =>
      `unavailable: cannot use postgres://${user}@${host}:${cluster.port}/postgres?schema=${SCHEMA}: ${reason}`;

    it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
      'is spoken to in cipher with sslmode=%s, reading and writing',
      async (mode) => {
        const trusting = `sslmode=${mode}&sslrootcert=${authority.certificateFile}`;
        await write(location(trusting), 1);
        expect(await read(location(trusting))).toEqual({ n: 1 });
      },
    );

    it('is found out when somebody else certifies it, from the mode on that checks', async () => {
      const mistrusting = `sslrootcert=${stranger.certificateFile}`;
      for (const mode of ['require', 'verify-ca', 'verify-full']) {
        expect(await failure(() => read(location(`sslmode=${mode}&${mistrusting}`)))).toMatch(
          refused('the certificate of the database is not trusted ('),
        );
      }
      expect(await failure(() => read(location('sslmode=verify-full&sslrootcert=system')))).toMatch(
        refused('the certificate of the database is not trusted ('),
      );
      expect(await read(location(`sslmode=prefer&${mistrusting}`))).toEqual({ n: 1 });
    });

    it('is found out under another name by verify-full, which is all that verify-ca lets pass', async () => {
      const trusting = `sslrootcert=${authority.certificateFile}`;
      expect(
        await failure(() => read(location(`sslmode=verify-full&${trusting}`, 'clerk', 'localhost'))),
      ).toMatch(refused('the certificate of the database is for another host (', 'clerk', 'localhost'));
      expect(await read(location(`sslmode=verify-ca&${trusting}`, 'clerk', 'localhost'))).toEqual({ n: 1 });
    });

    it("must prove who it is on any line but this machine's own, without being asked to", async () => {
      // A way to this machine that does not look like one.
      const elsewhere = (more: string): string => location(more, 'clerk', '0.0.0.0');
      expect(await failure(() => read(elsewhere('')))).toMatch(
        refused('the certificate of the database is not trusted (', 'clerk', '0.0.0.0'),
      );
      // What the hint names.
      expect(await read(elsewhere(`sslrootcert=${authority.certificateFile}`))).toEqual({ n: 1 });
      expect(await read(elsewhere('sslmode=prefer'))).toEqual({ n: 1 });
    });

    it('says that it lets nobody in without TLS', async () => {
      expect(await failure(() => read(location('sslmode=disable')))).toBe(
        refused(
          'pg_hba.conf of the database has no entry that allows this login without TLS (host "127.0.0.1", user "clerk", database "postgres")',
        ),
      );
    });

    it('takes a certificate of ours for a password, and says that it wants one', async () => {
      const trusting = `sslmode=verify-full&sslrootcert=${authority.certificateFile}`;
      const own = `sslcert=${bearer.certificateFile}&sslkey=${bearer.keyFile}`;
      expect(await read(location(`${trusting}&${own}`, 'bearer'))).toEqual({ n: 1 });
      expect(await failure(() => read(location(trusting, 'bearer')))).toBe(
        refused('the database requires a client certificate', 'bearer'),
      );
    });

    it('is not asked when a file of ours is missing or says nothing', async () => {
      const nowhere = join(directory, 'nowhere.crt');
      expect(await failure(() => read(location(`sslmode=verify-full&sslrootcert=${nowhere}`)))).toMatch(
        `cannot read ${nowhere}`,
      );
      const empty = join(directory, 'empty.crt');
      writeFileSync(empty, 'nothing of the kind', { mode: 0o600 });
      expect(await failure(() => read(location(`sslmode=verify-full&sslrootcert=${empty}`)))).toMatch(
        refused('the certificate of the database is not trusted ('),
      );
      for (const key of [empty, authority.keyFile]) {
        const own = `sslcert=${bearer.certificateFile}&sslkey=${key}`;
        expect(await failure(() => read(location(`sslmode=require&${own}`, 'bearer')))).toBe(
          'invalid: cannot use sslcert and sslkey',
        );
      }
    });
  },
);
