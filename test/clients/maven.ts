import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, checksOf, type Machine } from './client.ts';

/** Compiles the program of a folder of this suite that has a `pom.xml`. @returns its class path */
async function mavenBuild(machine: Machine, name: string): Promise<string> {
  const folder = machine.folder(`maven-programs/${name}`);
  const pom = fileURLToPath(new URL(`${name}/pom.xml`, import.meta.url));
  const settings = [`-Dmaven.repo.local=${machine.folder('maven')}`, `-Doutput=${folder}`];
  const maven = ['-B', '-q', '-f', pom, ...settings];
  await machine.need('java', ['-version']);
  await machine.need('mvn', [...maven, 'dependency:copy-dependencies']);
  await machine.run('mvn', [...maven, 'compile']);
  return [join(folder, 'classes'), join(folder, 'dependency/*')].join(delimiter);
}

/** A client library for Java, with the class `Checks` of its folder, which runs the check of a title. */
export const javaClient = (
  name: string,
  title: string,
  version: string,
  titles: readonly string[],
): Client => ({
  title,
  version,
  minutes: 5,
  install: (machine) => mavenBuild(machine, name),
  checks: checksOf(titles, (classPath) => ['java', '-cp', classPath, 'Checks']),
});
