import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeVersionFor } from '../../scripts/release/node-binaries.ts';
import { wantedSystems } from '../../scripts/release/release.ts';
import { Unavailable } from '../clients/client.ts';
import { type Checks, releasedFile, root, version } from './bench.ts';

/** What checks a list against the schema of the format. */
const VALIDATOR = 'cyclonedx-python-lib[json-validation]==11.5.0';
const PROGRAM = `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(fault) if fault else 0)
`;

interface Bill {
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const file = (): string => releasedFile(`coffer-${version}.cdx.json`);

export const checks: Checks = {
  'the list of components follows the schema of CycloneDX 1.6': async (bench) => {
    const environment = join(bench.directory, 'python');
    await bench.run('python3', ['-m', 'venv', environment]);
    const pip = ['-m', 'pip', '--disable-pip-version-check', '-q', 'install', VALIDATOR];
    await bench.run(join(environment, 'bin/python'), pip).catch((error: Error) => {
      throw new Unavailable(error.message);
    });
    const program = join(bench.directory, 'validate.py');
    writeFileSync(program, PROGRAM);
    await bench.run(join(environment, 'bin/python'), [program, file()]);
  },
  'the list has each work whose license is shipped, Node, OpenSSL and libc, and no reference to nothing':
    async () => {
      const { components, dependencies } = JSON.parse(readFileSync(file(), 'utf8')) as Bill;
      const named = components.map((component) => `${component.name} ${component.version}`);
      const licenses = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES'), 'utf8');
      const shipped = [...licenses.matchAll(/^={80}\n(\S+ \S+) \(/gm)].map(([, title = '']) => title);
      ok(shipped.length > 10);
      deepEqual(
        shipped.filter((title) => !named.includes(title)),
        [],
      );
      for (const name of ['node', 'openssl', 'v8', 'libc6']) {
        ok(
          components.some((component) => component.name === name),
          name,
        );
      }
      ok(named.includes(`openssl ${process.versions.openssl}`));
      const nodes = components.filter(({ name }) => name === 'node').map((component) => component.version);
      deepEqual(nodes, [...new Set(wantedSystems().map(nodeVersionFor))].sort());
      const known = new Set(['coffer', ...components.map((component) => component['bom-ref'])]);
      equal(known.size, components.length + 1);
      const wanted = dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
      deepEqual(
        wanted.filter((reference) => !known.has(reference)),
        [],
      );
    },
};
