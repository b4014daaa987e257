/**
 * Whether no object in a JSON text, at any depth, has a duplicate name. Parsers differ in which duplicate they use, so
 * an attacker could show different values to different parsers.
 * @param json valid for `JSON.parse`; names are compared after resolving escapes
 */
export function hasUniqueNames(json: string): boolean {
  /** Names of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  let expectsName = false;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case OBJECT:
        open.push(names);
        names = new Set();
        expectsName = true;
        break;
      case LIST:
        open.push(names);
        names = undefined;
        expectsName = false;
        break;
      case OBJECT_END:
      case LIST_END:
        names = open.pop();
        expectsName = false;
        break;
      case COMMA:
        expectsName = names !== undefined;
        break;
      case QUOTE: {
        const end = endOfText(json, at);
        if (expectsName && names !== undefined) {
          const written = json.slice(at, end + 1);
          const name: unknown = written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
          if (typeof name !== 'string' || names.has(name)) return false;
          names.add(name);
          expectsName = false;
        }
        at = end;
        break;
      }
    }
  }
  return true;
}

const [OBJECT, OBJECT_END, LIST, LIST_END, COMMA, QUOTE] = [...'{}[],"'].map((sign) => sign.charCodeAt(0));

/** Returns the end of the text whose opening quote is at `start`. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}
