import type { Rule } from './rules.ts';

/*
 * Anyone who can push can change the rules of a repository. This module determines whether new rules encrypt at least
 * what earlier ones did, for every file and every name, also those that do not exist yet.
 */

/**
 * Describes what rules may encrypt less than earlier ones. The answer may be too strict, never too lax. Rules have no
 * loss that only add rules for all values or at the end, files to the last rule, names to `only`, or that remove names
 * from `except`.
 * @returns descriptions for users; empty if nothing can be encrypted less
 */
export function lossesBetween(before: readonly Rule[], now: readonly Rule[]): readonly string[] {
  const losses: string[] = [];
  // The first rule that matches a file applies, so the earlier rules have to be found again in their order.
  let next = 0;
  for (const [index, rule] of before.entries()) {
    const shown = filesOf(rule);
    const isLast = index === before.length - 1;
    const at = now.findIndex((other, place) => place >= next && hasFilesOf(other, rule, isLast));
    const found = now[at];
    if (found === undefined) {
      losses.push(`the rule for ${shown} was removed, or applies to other files`);
      continue;
    }
    for (const other of now.slice(next, at))
      if (!isForAll(other)) losses.push(`a rule for ${filesOf(other)} comes before the rule for ${shown}`);
    losses.push(...lossesIn(rule, found).map((what) => `in ${shown}, ${what}`));
    next = at + 1;
  }
  return losses;
}

/**
 * Describes which files new rules have another key for, which is no loss: all members have all keys.
 * @returns descriptions for users
 */
export function keysBetween(before: readonly Rule[], now: readonly Rule[]): readonly string[] {
  return now.flatMap((rule, index) => {
    const old = before.find((other) => hasFilesOf(rule, other, false));
    const isAtEnd = now
      .slice(index)
      .every((later) => !before.some((other) => hasFilesOf(later, other, false)));
    if (old === undefined ? isAtEnd : keyOf(old) === keyOf(rule)) return [];
    return [
      `key "${keyOf(rule)}" for ${filesOf(rule)}${old === undefined ? '' : `, no longer "${keyOf(old)}"`}`,
    ];
  });
}

const filesOf = ({ files }: Rule): string => files.join(', ');
const keyOf = ({ key, mount }: Rule): string => (mount === undefined ? key : `${mount}/${key}`);
const isWithin = (some: readonly string[], all: readonly string[]): boolean =>
  some.every((text) => all.includes(text));

/** Whether a rule encrypts every value of its files, which are read as their names tell. */
const isForAll = ({ only, except, format }: Rule): boolean =>
  only.length === 0 && except.length === 0 && format === undefined;

/** Whether a rule has the same files, or more of them if no earlier rule comes later. */
const hasFilesOf = (rule: Rule, before: Rule, isLast: boolean): boolean =>
  isWithin(before.files, rule.files) && (isLast || isWithin(rule.files, before.files));

function lossesIn(before: Rule, now: Rule): readonly string[] {
  const losses: string[] = [];
  const excepted = now.except.filter((pattern) => !before.except.includes(pattern));
  if (excepted.length > 0) losses.push(`${excepted.join(', ')} need not be encrypted any more`);
  const dropped = before.only.filter((pattern) => !now.only.includes(pattern));
  if (now.only.length > 0 && before.only.length === 0)
    losses.push(`only ${now.only.join(', ')} must be encrypted`);
  else if (now.only.length > 0 && dropped.length > 0)
    losses.push(`${dropped.join(', ')} need not be encrypted any more`);
  // In another format, the same file may have other values, or values of other names.
  if (before.format !== now.format) losses.push('the setting "format" was changed');
  return losses;
}
