/** What two servers answer, freed of what is never the same twice. */

export interface Answer {
  readonly status: number;
  /** The body as JSON, or as it is. */
  readonly body: unknown;
}

/** Members that are made by chance, or say when something was. Of these only the kind of value counts. */
const BY_CHANCE =
  /^(?:request_id|accessor|client_token|token|id|uuid|secret_id|secret_id_accessor|wrapped_accessor|role_id|entity_id|creation_time|expire_time|expiration_time|issue_time|last_updated_time|last_renewal|last_renewal_time|running_plugin_version)$/;
/** There are no identities, so theirs says nothing to compare with; and two servers are not of one version. */
const OF_THE_SERVER = /^(?:entity_id|version|cluster_name|cluster_id|server_time_utc)$/;
/** Seconds that go by. */
const GOING_BY = /^(?:ttl|lease_duration)$/;
/** Members of the envelope that Vault has, and OpenBao has not. */
const VAULTS_OWN = new Set(['mount_type']);
const SLACK_SECONDS = 10;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Where two answers are different, one line each. */
export function differences(ours: Answer, theirs: Answer): readonly string[] {
  const found: string[] = [];
  // Mistakes of callers are never 500 here.
  const isMistake = ours.status === 400 && theirs.status === 500;
  if (ours.status !== theirs.status && !isMistake)
    found.push(`status ${ours.status}, theirs ${theirs.status}`);
  compare('', ours.body, theirs.body, found);
  return found;
}

function compare(place: string, ours: unknown, theirs: unknown, found: string[]): void {
  const name = /[^.]*$/.exec(place)?.[0] ?? '';
  if (isList(ours) && isList(theirs)) {
    if (ours.length !== theirs.length) {
      found.push(`${place}: ${show(ours)}, theirs ${show(theirs)}`);
      return;
    }
    for (const [index, item] of ours.entries()) compare(`${place}.${index}`, item, theirs[index], found);
    return;
  }
  if (isObject(ours) && isObject(theirs)) {
    for (const member of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      if (place === '' && VAULTS_OWN.has(member)) continue;
      // Warnings come in no order that anybody relies on.
      const [one, other] = [ours[member], theirs[member]].map((value) =>
        member === 'warnings' && isList(value) ? value.toSorted() : value,
      );
      compare(place === '' ? member : `${place}.${member}`, one, other, found);
    }
    return;
  }
  if (OF_THE_SERVER.test(name) && typeof ours === typeof theirs) return;
  if (BY_CHANCE.test(name) && kindOf(ours) === kindOf(theirs)) return;
  if (GOING_BY.test(name) && typeof ours === 'number' && typeof theirs === 'number') {
    if (Math.abs(ours - theirs) <= SLACK_SECONDS) return;
  }
  if (plain(ours) !== plain(theirs)) found.push(`${place}: ${show(ours)}, theirs ${show(theirs)}`);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An empty text and one that is not are two kinds: clients tell them apart. */
const kindOf = (value: unknown): string => (value === '' ? 'empty' : value === null ? 'null' : typeof value);

/** Go prints the errors of some handlers as a list of one. */
const unlisted = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/^1 error occurred:\n\t\* (.*)\n\n$/s, '$1') : value;

const plain = (value: unknown): string =>
  show(unlisted(value))
    .replaceAll(UUID, 'UUID')
    .replaceAll(/_[0-9a-f]{8}\b/g, '_HEX');

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
